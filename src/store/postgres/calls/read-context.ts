import { makeAnalysisReader } from '../../analysis/analysis-reader.js'
import { makeExceptionReader } from '../../exceptions/exception-reader.js'
import { makeNotificationReader } from '../../notifications/notification-repository.js'
import { makeOutboxReader } from '../../outbox/outbox-reader.js'
import { makeAuditExporter } from '../../trail/audit-exporter.js'
import { makeTrailQueries } from '../../trail/trail-queries.js'
import type { Readers } from '../../ports/readers.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { makeAuditReader } from '../audit/audit-reader.js'
import { POSTGRES, queryBuilder } from '../engine/session-dialect.js'
import type { Queries } from '../engine/session.js'
import { makeGateReader } from '../../gates/gate-reader.js'
import { makeRegistryReader } from '../../registry/registry-reader.js'

/** Makes the context of operations that only read. */
export function makeReaders(queries: Queries): Readers {
  const db = queryBuilder<ServiceDatabase>(queries)
  const trail = makeTrailQueries(db)
  const audit = makeAuditReader(queries, trail)
  return {
    analysis: makeAnalysisReader(db),
    audit,
    auditExport: makeAuditExporter({ ...trail, page: (query) => audit.page(query) }),
    gates: makeGateReader(db, POSTGRES),
    exceptions: makeExceptionReader(db),
    notifications: makeNotificationReader(db),
    outbox: makeOutboxReader(db),
    registry: makeRegistryReader(db, POSTGRES),
  }
}
