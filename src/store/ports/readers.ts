import type { AnalysisReader } from './analysis-store.js'
import type { AuditExporter } from './audit-export.js'
import type { AuditReader } from './audit-store.js'
import type { GateReader } from './gate-store.js'
import type { Operation, Runner } from './operation.js'
import type { OutboxReader } from './outbox-store.js'
import type { RegistryReader } from './registry-store.js'

/** What an operation that only reads has at hand: one state of the store, whatever is written meanwhile. */
export interface Readers {
  readonly analysis: AnalysisReader
  readonly audit: AuditReader
  readonly auditExport: AuditExporter
  readonly outbox: OutboxReader
  readonly registry: RegistryReader
  readonly gates: GateReader
}

/** An operation that only reads. */
export type ReadOperation<Args, Result> = Operation<Readers, Args, Result>

/** Runs operations that only read. */
export type Reader = Runner<Readers>

/** The records of a service, for reading alone. */
export interface OpenReader {
  readonly reader: Reader
  readonly close: () => Promise<void>
}
