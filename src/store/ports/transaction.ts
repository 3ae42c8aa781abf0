import type { AnalysisRepository } from './analysis-store.js'
import type { AuditKeeper } from './audit-store.js'
import type { EventQueue, RegistryRepository } from './registry-store.js'
import type { ExceptionRepository } from './exception-store.js'
import type { GateRepository } from './gate-store.js'
import type { NotificationRepository } from './notification-store.js'
import type { Operation, Runner } from './operation.js'
import type { OutboxRepository } from './outbox-store.js'

/** Context of an operation that writes. All of it belongs to one transaction. */
export interface Transaction {
  readonly analysis: AnalysisRepository
  readonly audit: AuditKeeper
  readonly eventQueue: EventQueue
  readonly outbox: OutboxRepository
  readonly gates: GateRepository
  readonly exceptions: ExceptionRepository
  readonly registry: RegistryRepository
  readonly notifications: NotificationRepository
}

/** An operation that writes. */
export type WriteOperation<Args, Result> = Operation<Transaction, Args, Result>

/** Runs operations that write. */
export type Writer = Runner<Transaction>
