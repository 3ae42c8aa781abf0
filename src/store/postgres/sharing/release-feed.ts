import { Client } from 'pg'
import { clientConfig } from '../engine/client-config.js'
import { endClient, endNow } from '../engine/end-client.js'
import { HostChoice } from '../engine/host-choice.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'

/** What a replica tells of that has let go of its work (`notify`): the payload is its owner's name. */
export const RELEASED = 'tidegate_released'

const TIMEOUTS = { statementMs: 5000 }
const RETRY_MS = 2000

export interface ReleaseFeedOptions {
  readonly settings: PostgresSettings
  /** Whose own news are no news. */
  readonly owner: string
  /** Also called when news may have been missed. */
  readonly heard: () => void
}

/**
 * Hears at once of replicas that ended in order, over a connection of its own. It is only quicker than looking now and then, which
 * whoever listens does besides: a replica that died says nothing, and a connection may be lost unseen.
 */
export class ReleaseFeed {
  readonly #options: ReleaseFeedOptions
  readonly #hosts: HostChoice
  #client: Client | undefined
  #retry: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: ReleaseFeedOptions) {
    this.#options = options
    this.#hosts = new HostChoice(options.settings)
  }

  /** Listens, and again when the connection is lost; resolves after the first try, and never rejects. */
  async start(): Promise<void> {
    const { owner, heard } = this.#options
    const settings = await this.#hosts.settings().catch(() => undefined)
    if (this.#isStopped) return
    if (settings === undefined) {
      this.#tryLater()
      return
    }
    const client = new Client(clientConfig(settings, TIMEOUTS))
    this.#client = client
    client.on('error', () => this.#lose(client))
    client.on('end', () => this.#lose(client))
    client.on('notification', ({ payload }) => {
      if (payload !== owner) heard()
    })
    try {
      await client.connect()
      await client.query(`listen ${RELEASED}`)
      heard()
    } catch {
      this.#lose(client)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    if (this.#client !== undefined) await endClient(this.#client)
  }

  #lose(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    endNow(client)
    this.#hosts.suspect()
    if (!this.#isStopped) this.#tryLater()
  }

  #tryLater(): void {
    this.#retry = setTimeout(() => void this.start(), RETRY_MS).unref()
  }
}
