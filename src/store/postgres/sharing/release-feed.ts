import { Client } from 'pg'
import { clientConfig } from '../engine/client-config.js'
import { endClient, endNow } from '../engine/end-client.js'
import { HostChoice } from '../engine/host-choice.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'

/** Channel of notifications about released leases. The payload is the owner's name. */
export const RELEASED = 'tidegate_released'

const TIMEOUTS = { statementMs: 5000 }
const RETRY_MS = 2000

export interface ReleaseFeedOptions {
  readonly settings: PostgresSettings
  /** The owner whose own notifications are ignored. */
  readonly owner: string
  /** Also called if a notification may have been missed. */
  readonly released: () => void
}

/**
 * Listens on its own connection for replicas that stopped in order. It only speeds up what polling
 * finds: a crashed replica sends nothing, and a connection may be lost unnoticed.
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

  /**
   * Starts listening, and again after a lost connection. Resolves after the first try and never
   * rejects.
   */
  async start(): Promise<void> {
    const { owner, released } = this.#options
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
      if (payload !== owner) released()
    })
    try {
      await client.connect()
      await client.query(`listen ${RELEASED}`)
      released()
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
    this.#hosts.recheck()
    if (!this.#isStopped) this.#tryLater()
  }

  #tryLater(): void {
    this.#retry = setTimeout(() => void this.start(), RETRY_MS).unref()
  }
}
