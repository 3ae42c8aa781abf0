import { toFailure } from '../../../lib/threads/failure.js'
import type { Call, CallConnection, Outcome } from '../../calls/call.js'
import type { FindOperation } from '../../ports/operation.js'
import type { Readers } from '../../ports/readers.js'
import { fromDriver, isStaleConnection, isRetryable } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import { makeReaders } from './read-context.js'

const ACTION = 'read the database'
const MAX_TRIES = 2
/** Timeouts for searches and exports. */
const TIMEOUTS = { statementMs: 120_000, lockMs: 10_000 }

/** Returns a connection that reads, opened with the first call. */
export function connectReading(
  settings: PostgresSettings,
  operations: FindOperation<Readers>,
): CallConnection {
  return new ReadConnection(new Session(settings, TIMEOUTS), operations)
}

/** A connection that reads. Each call sees one state of the database. */
class ReadConnection implements CallConnection {
  readonly #session: Session
  readonly #readers: Readers
  readonly #find: FindOperation<Readers>

  constructor(session: Session, find: FindOperation<Readers>) {
    this.#session = session
    this.#readers = makeReaders(session)
    this.#find = find
  }

  async execute(calls: readonly Call[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await this.#one(call))
    return outcomes
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #one({ operation, args }: Call): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#session.script('begin isolation level repeatable read read only')
        const result = await this.#find(operation).apply(this.#readers, args as never)
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
