import { toFailure } from '../../../lib/threads/failure.js'
import type { BoundCall, CallConnection, Outcome } from '../../calls/call.js'
import type { Readers } from '../../ports/readers.js'
import { fromDriver, isStaleConnection, isRetryable } from '../engine/postgres-error.js'
import type { Session } from '../engine/session.js'
import { makeReaders } from './read-context.js'

const ACTION = 'read the database'
const MAX_TRIES = 2

/** A connection that reads: each call sees one state of the database, whatever is written meanwhile. */
export class ReadConnection implements CallConnection<Readers> {
  readonly #session: Session
  readonly #readers: Readers

  constructor(session: Session) {
    this.#session = session
    this.#readers = makeReaders(session)
  }

  async execute(calls: readonly BoundCall<Readers>[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await this.#one(call))
    return outcomes
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #one(call: BoundCall<Readers>): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#session.script('begin isolation level repeatable read read only')
        const result = await call(this.#readers)
        await this.#session.script('commit')
        return { ok: true, result }
      } catch (raw) {
        await this.#session.rollBack()
        if ((isRetryable(raw) || isStaleConnection(raw)) && tries < MAX_TRIES) continue
        return { ok: false, failure: toFailure(fromDriver(ACTION, raw)) }
      }
    }
  }
}
