import { makeAnalysisRepository } from '../../analysis/analysis-repository.js'
import type { Transaction } from '../../ports/transaction.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { makeAuditAppender } from '../audit/audit-appender.js'
import type { PostgresAppender } from '../audit/audit-appender.js'
import { makeAuditKeeper } from '../audit/audit-keeper.js'
import { TrailState } from '../audit/trail-state.js'
import { POSTGRES, queryBuilder } from '../engine/session-dialect.js'
import type { Session } from '../engine/session.js'
import { makeGateRepository } from '../../gates/gate-repository.js'
import { makeExceptionRepository } from '../../exceptions/exception-repository.js'
import { makeOutboxRepository } from '../../outbox/outbox-repository.js'
import { makeOutboxLeases } from '../outbox/outbox-leases.js'
import { makeEventQueue, makeRegistryRepository } from '../../registry/registry-repository.js'
import type { Begun } from './begin-writing.js'

/** Context of a replica's writing operations, reused for all transactions. */
export class WriteContext {
  readonly transaction: Transaction
  readonly #session: Session
  readonly #trail = new TrailState()
  readonly #appender: PostgresAppender

  constructor(session: Session, owner: string) {
    const db = queryBuilder<ServiceDatabase>(session)
    this.#session = session
    this.#appender = makeAuditAppender(session, this.#trail)
    this.transaction = {
      analysis: makeAnalysisRepository(db),
      audit: makeAuditKeeper(session, db, this.#trail, this.#appender),
      eventQueue: makeEventQueue(db),
      outbox: { ...makeOutboxRepository(db), ...makeOutboxLeases(session, owner) },
      gates: makeGateRepository(db, POSTGRES),
      exceptions: makeExceptionRepository(db),
      registry: makeRegistryRepository(db),
    }
  }

  /** Number of writes, pending records included. */
  get changes(): number {
    return this.#session.writes + this.#trail.end.seq
  }

  /** Storage time of the last record that this process knows. */
  get endedMs(): number {
    return this.#trail.end.recordedMs
  }

  /** The database's time at the beginning of the transaction. */
  get nowMs(): number {
    return this.#trail.nowMs
  }

  /** Begins a transaction. `isTrusting` is that of `TrailState`. */
  begin({ end, nowMs }: Begun, isTrusting: boolean): void {
    this.#trail.reset(end, nowMs, isTrusting)
  }

  /** Raises `EventIsStored` if a pending event is not new. */
  prove(): Promise<void> {
    return this.#appender.prove()
  }

  /** Writes the pending records. */
  flush(): Promise<void> {
    return this.#appender.flush()
  }
}
