import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'

import type { PostgresSettings } from './postgres-settings.js'
import { ServerUnresponsive } from './postgres-error.js'
import { probeServer } from './while-responsive.js'

/** Timeout of a connection attempt during shutdown. */
const CHECK_TIMEOUT_MS = 2000
const PAUSE_MS = 500
/** Failed checks in a row before a server is abandoned: it may be slow once. */
const MAX_FAILED_CHECKS = 2

/**
 * Decides during shutdown whether to wait for the database. An unresponsive one would delay each
 * part that is closed by a full timeout. Unfinished writes were not acknowledged. A slow but
 * responding database is waited for.
 */
export class ShutdownProbe {
  readonly #settings: PostgresSettings
  readonly #abandoned = new AbortController()
  readonly #closed = new AbortController()

  constructor(settings: PostgresSettings) {
    this.#settings = settings
    // Each request under way has a listener; Node.js warns above ten.
    setMaxListeners(0, this.abandoned)
  }

  /** Aborted once the database is abandoned. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal
  }

  /**
   * Starts to check the database. If `isAway` returns true, it failed a moment ago and one failed
   * check is enough.
   */
  async begin(isAway: () => boolean): Promise<void> {
    let checksLeft = isAway() ? 1 : MAX_FAILED_CHECKS
    while (checksLeft > 0 && !this.#closed.signal.aborted) {
      checksLeft = (await this.#isAnswered()) ? MAX_FAILED_CHECKS : checksLeft - 1
      if (checksLeft > 0) await this.#pause()
    }
    if (checksLeft === 0) this.#abandoned.abort()
  }

  /** Stops the checks. */
  end(): void {
    this.#closed.abort()
  }

  /** Returns the result of `act`. Raises ServerUnresponsive if the database is abandoned first. */
  async unlessAbandoned<T>(act: () => Promise<T>): Promise<T> {
    const signal = this.abandoned
    if (signal.aborted) throw new ServerUnresponsive()
    let giveUp: (() => void) | undefined
    const unresponsive = new Promise<never>((_, reject) => {
      giveUp = () => reject(new ServerUnresponsive())
      signal.addEventListener('abort', giveUp)
    })
    try {
      return await Promise.race([act(), unresponsive])
    } finally {
      if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
    }
  }

  /**
   * A standby does not replace an unresponsive primary. If all hosts respond and none accepts
   * writes, there is nothing to wait for.
   */
  async #isAnswered(): Promise<boolean> {
    const { host, port, otherHosts = [] } = this.#settings
    const hosts = [{ host, port }, ...otherHosts]
    const answers = await Promise.all(
      hosts.map((each) => probeServer({ ...this.#settings, ...each }, CHECK_TIMEOUT_MS)),
    )
    return answers.includes('takes writes') || !answers.includes('nothing')
  }

  async #pause(): Promise<void> {
    await setTimeout(PAUSE_MS, undefined, { signal: this.#closed.signal }).catch(() => undefined)
  }
}
