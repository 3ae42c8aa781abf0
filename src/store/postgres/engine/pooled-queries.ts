import { Pool } from 'pg'
import type { QueryResult, QueryResultRow } from 'pg'
import { clientConfig } from './client-config.js'
import { CopyOut } from './copy-out.js'
import { isStaleConnection } from './postgres-error.js'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'
import { onlyReads, preparedQuery } from './session.js'
import type { Queries } from './session.js'

const IDLE_MS = 30_000

/** Statements that are each a transaction of their own, several at a time on so many connections at the most. */
export class PooledQueries implements Queries {
  readonly #pool: Pool
  /** A name is the same text on every connection. */
  readonly #names = new Map<string, string>()

  constructor(settings: PostgresSettings, timeouts: PostgresTimeouts, connections: number) {
    this.#pool = new Pool({
      ...clientConfig(settings, timeouts),
      max: connections,
      idleTimeoutMillis: IDLE_MS,
    })
    // An idle connection that was lost is replaced by the next one that is needed.
    this.#pool.on('error', () => undefined)
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const query = preparedQuery(this.#names, text, values)
    try {
      return await this.#pool.query<Row>(query)
    } catch (raw) {
      // A connection that idled may have been lost since; a statement that only reads may be asked again.
      if (!isStaleConnection(raw) || !onlyReads(text)) throw raw
      return await this.#pool.query<Row>(query)
    }
  }

  async copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await client.query(new CopyOut(text, take)).finished
      client.release()
    } catch (raw) {
      client.release(true)
      throw raw
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}
