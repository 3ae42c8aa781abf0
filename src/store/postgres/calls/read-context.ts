import { makeAnalysisReader } from '../../analysis/analysis-reader.js'
import { makeOutboxReader } from '../../outbox/outbox-reader.js'
import type { Readers } from '../../ports/readers.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { makeAuditExporter } from '../audit/audit-exporter.js'
import { makeAuditReader } from '../audit/audit-reader.js'
import { POSTGRES, queryBuilder } from '../engine/session-dialect.js'
import type { Queries } from '../engine/session.js'
import { makeGateReader } from '../../gates/gate-reader.js'
import { makeRegistryReader } from '../../registry/registry-reader.js'

/** Makes the context of operations that only read. */
export function makeReaders(queries: Queries): Readers {
  const db = queryBuilder<ServiceDatabase>(queries)
  return {
    analysis: makeAnalysisReader(db),
    audit: makeAuditReader(queries, db),
    auditExport: makeAuditExporter(queries),
    gates: makeGateReader(db, POSTGRES),
    outbox: makeOutboxReader(db),
    registry: makeRegistryReader(db, POSTGRES),
  }
}
