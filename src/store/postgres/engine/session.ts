import { AppError, toError } from '../../../errors/app-error.js'
import { Client } from 'pg'
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { clientConfig, firstStatements } from './client-config.js'
import { CopyOut } from './copy-out.js'
import { HostChoice } from './host-choice.js'
import { endClient, endNow } from './end-client.js'
import { isLostConnection, isOutdated, isSilent } from './postgres-error.js'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'
import { whileAnswered } from './while-answered.js'

/** Asks the database; parameters stand for `$1`, `$2`, … */
export interface Queries {
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /** Hands over the rows of a `copy … to stdout (format binary)` one by one; the values are only there until `take` returns. */
  copyOut(text: string, take: (values: readonly Buffer[]) => void): Promise<void>
}

/** Statements that are prepared once and remembered by the server; others are parsed each time. */
const MAX_PREPARED = 256
let named = 0
const NUL = '\0'
/** What a client says of itself outside of any transaction. */
const IDLE = 'I'
/** A server that gave no answer is asked again after so long. */
const SILENCE_MS = 500

/** One connection, made when it is needed and again when it was lost; what is left of a transaction fails then, until it is rolled back. */
export class Session implements Queries {
  readonly #hosts: HostChoice
  readonly #timeouts: PostgresTimeouts
  readonly #prepared = new Map<string, string>()
  #client: Client | undefined
  #isClosed = false
  /** A connection was lost within a transaction: what comes next there must not run on another one, outside of any. */
  #hasLostTransaction = false
  #writes = 0
  #connectedTo: PostgresSettings
  /** For a moment after the server gave no answer. */
  #silence: Error | undefined

  constructor(settings: PostgresSettings, timeouts: PostgresTimeouts) {
    this.#hosts = new HostChoice(settings)
    this.#connectedTo = settings
    this.#timeouts = timeouts
  }

  /** How many statements were run that may have written something. */
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

  /** Runs several statements that take no parameters in one round trip; gives the result of each. */
  async script(text: string): Promise<readonly QueryResult[]> {
    const results: unknown = await this.#on((client) => client.query(text))
    return (Array.isArray(results) ? results : [results]) as readonly QueryResult[]
  }

  /** Ends the transaction that is under way; where that fails, by giving the connection up. Never rejects. */
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

  /** Runs a statement on the connection, which is given up where it is lost or the server gives no answer any more. */
  async #on<T>(act: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connected()
    try {
      return await whileAnswered(
        this.#connectedTo,
        () => act(client),
        () => this.#lose(client),
      )
    } catch (raw) {
      if (isLostConnection(raw)) this.#lose(client)
      if (isOutdated(raw)) this.#prepared.clear()
      if (isSilent(raw)) this.#noteSilence(toError(raw))
      throw raw
    }
  }

  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    if (this.#isClosed) throw new AppError('unavailable', 'the store has been closed')
    if (this.#hasLostTransaction) throw new Error('Connection terminated within a transaction')
    if (this.#silence !== undefined) throw this.#silence
    this.#connectedTo = await this.#hosts.settings()
    const client = new Client(clientConfig(this.#connectedTo, this.#timeouts))
    // What happens between two statements is seen by the next one.
    client.on('error', () => this.#lose(client))
    try {
      await client.connect()
      await whileAnswered(
        this.#connectedTo,
        () => client.query(firstStatements(this.#timeouts)),
        () => endNow(client),
      )
    } catch (raw) {
      this.#hosts.suspect()
      endNow(client)
      if (isSilent(raw)) this.#noteSilence(toError(raw))
      throw raw
    }
    this.#prepared.clear()
    this.#client = client
    return client
  }

  /** Those who wait for their turn need not find it out one after the other. */
  #noteSilence(error: Error): void {
    this.#silence = error
    setTimeout(() => (this.#silence = undefined), SILENCE_MS).unref()
  }

  #lose(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#hosts.suspect()
    endNow(client)
    this.#hasLostTransaction = (client.getTransactionStatus() ?? IDLE) !== IDLE
  }
}

/** Whether a statement of ours writes nothing. */
export function onlyReads(text: string): boolean {
  return /^\s*(?:select|with)\b/i.test(text) && !text.includes('insert into')
}

/** A statement under a name, by which the server remembers it from the second time on. */
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

/** The server knows no text with U+0000 in it. */
export function withoutNul<T>(value: T): T | string {
  return typeof value === 'string' && value.includes(NUL) ? value.replaceAll(NUL, '\ufffd') : value
}
