import { AppError, toError } from '../../../errors/app-error.js'
import { Client } from 'pg'
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { clientConfig, firstStatements } from './client-config.js'
import { CopyOut } from './copy-out.js'
import { HostChoice } from './host-choice.js'
import { endClient, endNow } from './end-client.js'
import { isLostConnection, isOutdatedStatement, isUnresponsive } from './postgres-error.js'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'
import { whileResponsive } from './while-responsive.js'

/** Runs statements with parameters `$1`, `$2`, … */
export interface Queries {
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /**
   * Passes the rows of a `copy … to stdout (format binary)` to `take`. The values are valid until
   * `take` returns.
   */
  copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void>
}

/** Highest number of prepared statements. Others are parsed each time. */
const MAX_PREPARED = 256
let named = 0
const NUL = '\0'
/** Transaction status of the client outside of a transaction. */
const IDLE = 'I'
/** Time during which an unresponsive server is not tried again. */
const UNRESPONSIVE_MS = 500

/**
 * One connection, made on demand and again after a loss. After a loss within a transaction,
 * statements fail until the rollback.
 */
export class Session implements Queries {
  readonly #hosts: HostChoice
  readonly #timeouts: PostgresTimeouts
  readonly #prepared = new Map<string, string>()
  #client: Client | undefined
  #isClosed = false
  /**
   * The connection was lost within a transaction, whose remaining statements must not run outside
   * of it.
   */
  #hasLostTransaction = false
  #writes = 0
  #connectedTo: PostgresSettings
  /** Error of an unresponsive server, for a short time. */
  #unresponsive: Error | undefined

  constructor(settings: PostgresSettings, timeouts: PostgresTimeouts) {
    this.#hosts = new HostChoice(settings)
    this.#connectedTo = settings
    this.#timeouts = timeouts
  }

  /** Number of statements that may have written something. */
  get writes(): number {
    return this.#writes
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    return await this.#on((client) => {
      if (!onlyReads(text)) this.#writes++
      return client.query<Row>(preparedQuery(this.#prepared, text, values))
    })
  }

  async copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void> {
    await this.#on((client) => client.query(new CopyOut(text, take)).finished)
  }

  /** Runs several statements without parameters in one round trip. Returns the result of each. */
  async script(text: string): Promise<readonly QueryResult[]> {
    const results: unknown = await this.#on((client) => client.query(text))
    return (Array.isArray(results) ? results : [results]) as readonly QueryResult[]
  }

  /** Rolls back the current transaction, or drops the connection if that fails. Never rejects. */
  async rollBack(): Promise<void> {
    try {
      if (this.#client !== undefined) await this.script('rollback')
    } catch {
      if (this.#client !== undefined) this.#lose(this.#client)
    }
    this.#hasLostTransaction = false
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await endClient(client)
  }

  /** Runs a statement, and drops the connection if it is lost or the server stops responding. */
  async #on<T>(act: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connected()
    try {
      return await whileResponsive(
        this.#connectedTo,
        () => act(client),
        () => this.#lose(client),
      )
    } catch (raw) {
      if (isLostConnection(raw)) this.#lose(client)
      if (isOutdatedStatement(raw)) this.#prepared.clear()
      if (isUnresponsive(raw)) this.#noteUnresponsive(toError(raw))
      throw raw
    }
  }

  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    if (this.#isClosed) throw new AppError('unavailable', 'the store is closed')
    if (this.#hasLostTransaction) throw new Error('Connection terminated within a transaction')
    if (this.#unresponsive !== undefined) throw this.#unresponsive
    this.#connectedTo = await this.#hosts.settings()
    const client = new Client(clientConfig(this.#connectedTo, this.#timeouts))
    // The next statement sees an error between two statements.
    client.on('error', () => this.#lose(client))
    try {
      await client.connect()
      await whileResponsive(
        this.#connectedTo,
        () => client.query(firstStatements(this.#timeouts)),
        () => endNow(client),
      )
    } catch (raw) {
      this.#hosts.recheck()
      endNow(client)
      if (isUnresponsive(raw)) this.#noteUnresponsive(toError(raw))
      throw raw
    }
    this.#prepared.clear()
    this.#client = client
    return client
  }

  /** Spares waiting callers from finding out one after the other. */
  #noteUnresponsive(error: Error): void {
    this.#unresponsive = error
    setTimeout(() => (this.#unresponsive = undefined), UNRESPONSIVE_MS).unref()
  }

  #lose(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#hosts.recheck()
    endNow(client)
    this.#hasLostTransaction = (client.getTransactionStatus() ?? IDLE) !== IDLE
  }
}

/** Whether one of our statements only reads. */
export function onlyReads(text: string): boolean {
  return /^\s*(?:select|with)\b/i.test(text) && !text.includes('insert into')
}

/** Names a statement, so that the server prepares it once. */
export function preparedQuery(
  names: Map<string, string>,
  text: string,
  values: readonly unknown[],
): QueryConfig<unknown[]> {
  let name = names.get(text)
  if (name === undefined && names.size < MAX_PREPARED) {
    name = `tg${++named}`
    names.set(text, name)
  }
  return { text, values: values.map(withoutNul), ...(name !== undefined && { name }) }
}

/** Replaces U+0000, which PostgreSQL does not accept in text. */
export function withoutNul<T>(value: T): T | string {
  return typeof value === 'string' && value.includes(NUL) ? value.replaceAll(NUL, '\ufffd') : value
}
