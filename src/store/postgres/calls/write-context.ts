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
import { makeOutboxRepository } from '../../outbox/outbox-repository.js'
import { makeOutboxLeases } from '../outbox/outbox-leases.js'
import { makeEventQueue, makeRegistryRepository } from '../../registry/registry-repository.js'
import type { Begun } from './begin-writing.js'

/** What operations of one replica that write have at hand, from transaction to transaction. */
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
      registry: makeRegistryRepository(db),
    }
  }

  /** Counts everything that was written, what waits to be included. */
  get changes(): number {
    return this.#session.writes + this.#trail.end.seq
  }

  /** When the last record was kept that this process knows of. */
  get endedMs(): number {
    return this.#trail.end.recordedMs
  }

  /** The database's clock at the beginning of the transaction. */
  get nowMs(): number {
    return this.#trail.nowMs
  }

  /** `isTrusting` as in `TrailState`. */
  begin({ end, nowMs }: Begun, isTrusting: boolean): void {
    this.#trail.reset(end, nowMs, isTrusting)
  }

  /** Raises `EventWasKept` where an event that waits was not new. */
  prove(): Promise<void> {
    return this.#appender.prove()
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    return this.#appender.flush()
  }
}
