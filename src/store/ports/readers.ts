import type { AnalysisReader } from './analysis-store.js'
import type { AuditExporter } from './audit-export.js'
import type { AuditReader } from './audit-store.js'
import type { ExceptionReader } from './exception-store.js'
import type { GateReader } from './gate-store.js'
import type { NotificationReader } from './notification-store.js'
import type { Operation, Runner } from './operation.js'
import type { OutboxReader } from './outbox-store.js'
import type { RegistryReader } from './registry-store.js'

/**
 * Context of an operation that only reads: one state of the store, unaffected by concurrent writes.
 */
export interface Readers {
  readonly analysis: AnalysisReader
  readonly audit: AuditReader
  readonly auditExport: AuditExporter
  readonly outbox: OutboxReader
  readonly registry: RegistryReader
  readonly gates: GateReader
  readonly exceptions: ExceptionReader
  readonly notifications: NotificationReader
}

/** An operation that only reads. */
export type ReadOperation<Args, Result> = Operation<Readers, Args, Result>

/** Runs operations that only read. */
export type Reader = Runner<Readers>

/** Read-only access to the records of a service. */
export interface OpenReader {
  readonly reader: Reader
  readonly close: () => Promise<void>
}
