import { AppError } from '../../../errors/app-error.js'
import { Pool } from 'pg'
import type { PoolClient, QueryResult, QueryResultRow } from 'pg'
import { clientConfig, firstStatements } from './client-config.js'
import { CopyOut } from './copy-out.js'
import { endNow } from './end-client.js'
import { HostChoice } from './host-choice.js'
import { isLostConnection, isOutdatedStatement, isRetryable, isStaleConnection } from './postgres-error.js'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'
import { ShutdownProbe } from './shutdown-probe.js'
import { onlyReads, preparedQuery } from './session.js'
import type { Queries } from './session.js'
import { whileResponsive } from './while-responsive.js'

const ignore = () => undefined

const IDLE_MS = 30_000

interface HostPool {
  readonly of: PostgresSettings
  readonly pool: Pool
}

type Act<T> = (client: PoolClient) => Promise<T>

/** Runs statements, each in its own transaction, on a limited number of connections. */
export class PooledQueries implements Queries {
  readonly #hosts: HostChoice
  readonly #timeouts: PostgresTimeouts
  readonly #connections: number
  readonly #shutdown: ShutdownProbe
  /** Names of prepared statements by text, the same on every connection. */
  readonly #names = new Map<string, string>()
  /** Connections that are set up. */
  readonly #begun = new WeakSet<PoolClient>()
  #pool: HostPool | undefined
  #isClosed = false

  constructor(
    settings: PostgresSettings,
    timeouts: PostgresTimeouts,
    connections: number,
    shutdown = new ShutdownProbe(settings),
  ) {
    this.#hosts = new HostChoice(settings)
    this.#timeouts = timeouts
    this.#connections = connections
    this.#shutdown = shutdown
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    return await this.#trying(
      (client) => client.query<Row>(preparedQuery(this.#names, text, values)),
      // An idle connection may have been lost. A statement that only reads can run again.
      (raw) => isRetryable(raw) || (isStaleConnection(raw) && onlyReads(text)),
    )
  }

  async copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void> {
    await this.#trying(
      (client) => client.query(new CopyOut(text, take)).finished,
      () => false,
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const ended = this.#pool?.pool.end()
    await this.#shutdown.unlessAbandoned(() => Promise.resolve(ended)).catch(ignore)
  }

  async #trying<T>(act: Act<T>, isWorthAgain: (raw: unknown) => boolean): Promise<T> {
    try {
      return await this.#shutdown.unlessAbandoned(() => this.#on(act))
    } catch (raw) {
      if (isLostConnection(raw)) this.#hosts.recheck()
      // The server keeps the old statement under its name, so new names are needed.
      if (isOutdatedStatement(raw)) this.#names.clear()
      if (!isWorthAgain(raw)) throw raw
      return await this.#on(act)
    }
  }

  /**
   * Runs a statement on a free connection, and drops the connection if the statement fails or the
   * server stops responding.
   */
  async #on<T>(act: Act<T>): Promise<T> {
    const { of, pool } = await this.#connected()
    const client = await pool.connect()
    // The statement reports the error.
    client.on('error', ignore)
    let isWell = false
    try {
      const result = await whileResponsive(
        of,
        async () => {
          if (!this.#begun.has(client)) await client.query(firstStatements(this.#timeouts))
          this.#begun.add(client)
          return await act(client)
        },
        () => endNow(client),
      )
      isWell = true
      return result
    } finally {
      client.release(!isWell)
      client.off('error', ignore)
    }
  }

  /** Returns the pool of the current host. Idle connections to the former host are useless. */
  async #connected(): Promise<HostPool> {
    const settings = await this.#hosts.settings()
    if (this.#isClosed) throw new AppError('unavailable', 'the store is closed')
    if (this.#pool?.of.host === settings.host && this.#pool.of.port === settings.port) return this.#pool
    void this.#pool?.pool.end().catch(() => undefined)
    const pool = new Pool({
      ...clientConfig(settings, this.#timeouts),
      max: this.#connections,
      idleTimeoutMillis: IDLE_MS,
    })
    // The next query replaces a lost idle connection.
    pool.on('error', () => undefined)
    this.#pool = { of: settings, pool }
    return this.#pool
  }
}
