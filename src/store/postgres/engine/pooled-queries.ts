import { AppError } from '../../../errors/app-error.js'
import { Pool } from 'pg'
import type { QueryResult, QueryResultRow } from 'pg'
import { clientConfig } from './client-config.js'
import { CopyOut } from './copy-out.js'
import { HostChoice } from './host-choice.js'
import { isLostConnection, isStaleConnection } from './postgres-error.js'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'
import { onlyReads, preparedQuery } from './session.js'
import type { Queries } from './session.js'

const IDLE_MS = 30_000

/** Statements that are each a transaction of their own, several at a time on so many connections at the most. */
export class PooledQueries implements Queries {
  readonly #hosts: HostChoice
  readonly #timeouts: PostgresTimeouts
  readonly #connections: number
  /** A name is the same text on every connection. */
  readonly #names = new Map<string, string>()
  #pool: { readonly of: PostgresSettings; readonly pool: Pool } | undefined
  #isClosed = false

  constructor(settings: PostgresSettings, timeouts: PostgresTimeouts, connections: number) {
    this.#hosts = new HostChoice(settings)
    this.#timeouts = timeouts
    this.#connections = connections
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const query = preparedQuery(this.#names, text, values)
    return await this.#trying(
      async () => (await this.#connected()).query<Row>(query),
      // A connection that idled may have been lost since; a statement that only reads may be asked again.
      (raw) => isStaleConnection(raw) && onlyReads(text),
    )
  }

  async copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void> {
    await this.#trying(
      async () => {
        const client = await (await this.#connected()).connect()
        try {
          await client.query(new CopyOut(text, take)).finished
          client.release()
        } catch (raw) {
          client.release(true)
          throw raw
        }
      },
      () => false,
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool?.pool.end()
  }

  async #trying<T>(act: () => Promise<T>, isWorthAgain: (raw: unknown) => boolean): Promise<T> {
    try {
      return await act()
    } catch (raw) {
      if (isLostConnection(raw)) this.#hosts.suspect()
      if (!isWorthAgain(raw)) throw raw
      return await act()
    }
  }

  /** Another pool where another host takes writes: those that idle at the last one are of no use. */
  async #connected(): Promise<Pool> {
    const settings = await this.#hosts.settings()
    if (this.#isClosed) throw new AppError('unavailable', 'the store has been closed')
    if (this.#pool?.of.host === settings.host && this.#pool.of.port === settings.port) return this.#pool.pool
    void this.#pool?.pool.end().catch(() => undefined)
    const pool = new Pool({
      ...clientConfig(settings, this.#timeouts),
      max: this.#connections,
      idleTimeoutMillis: IDLE_MS,
    })
    // An idle connection that was lost is replaced by the next one that is needed.
    pool.on('error', () => undefined)
    this.#pool = { of: settings, pool }
    return pool
  }
}
