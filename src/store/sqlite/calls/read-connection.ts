import type { Database } from 'better-sqlite3'
import { toFailure } from '../../../lib/threads/failure.js'
import type { Call, CallConnection, Outcome } from '../../calls/call.js'
import type { FindOperation } from '../../ports/operation.js'
import { fromDriver } from '../engine/sqlite-error.js'
import { rollBack } from './write-connection.js'

/** A connection that reads. Each call sees one state of the database. */
export class ReadConnection<Context> implements CallConnection {
  readonly #database: Database
  readonly #context: Context
  readonly #find: FindOperation<Context>

  constructor(database: Database, context: Context, find: FindOperation<Context>) {
    this.#database = database
    this.#context = context
    this.#find = find
  }

  async execute(calls: readonly Call[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await this.#one(call))
    return outcomes
  }

  close(): Promise<void> {
    this.#database.close()
    return Promise.resolve()
  }

  async #one({ operation, args }: Call): Promise<Outcome> {
    try {
      this.#database.exec('begin')
      return { ok: true, result: await this.#find(operation).apply(this.#context, args as never) }
    } catch (raw) {
      return { ok: false, failure: toFailure(fromDriver('read tidegate.db', raw)) }
    } finally {
      rollBack(this.#database)
    }
  }
}
