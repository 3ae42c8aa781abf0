import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'

import type { PostgresSettings } from './postgres-settings.js'
import { ServerSilent } from './postgres-error.js'
import { answerOf } from './while-answered.js'

/** A server that has not taken a connection for so long at the end of the process is not waited for. */
const LOOK_MS = 2000
const INTERVAL_MS = 500
/** One that was well until then may only be slow to answer once. */
const LOOKS = 2

/**
 * Whether the end of a process goes on without its database: one that stands still would hold up each thing that is closed, one after another,
 * as long as a request. What is given up has not been acknowledged; a database that answers, however slowly, is waited for.
 */
export class SilenceAtEnd {
  readonly #settings: PostgresSettings
  readonly #givenUp = new AbortController()
  readonly #closed = new AbortController()

  constructor(settings: PostgresSettings) {
    this.#settings = settings
    // One for each request that is under way; Node warns of more than ten.
    setMaxListeners(0, this.givenUp)
  }

  /** Aborted once the database is not waited for any more. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal
  }

  /** Begins to look whether the database answers; where `isAway` says that it did not a moment ago, one look in vain is enough. */
  async begin(isAway: () => boolean): Promise<void> {
    let looksLeft = isAway() ? 1 : LOOKS
    while (looksLeft > 0 && !this.#closed.signal.aborted) {
      looksLeft = (await this.#isAnswered()) ? LOOKS : looksLeft - 1
      if (looksLeft > 0) await this.#pause()
    }
    if (looksLeft === 0) this.#givenUp.abort()
  }

  /** Looks no more. */
  end(): void {
    this.#closed.abort()
  }

  /** What an act gives, unless the database is given up before: then raises ServerSilent. */
  async unlessGivenUp<T>(act: () => Promise<T>): Promise<T> {
    const signal = this.givenUp
    if (signal.aborted) throw new ServerSilent()
    let giveUp: (() => void) | undefined
    const silence = new Promise<never>((_, reject) => {
      giveUp = () => reject(new ServerSilent())
      signal.addEventListener('abort', giveUp)
    })
    try {
      return await Promise.race([act(), silence])
    } finally {
      if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
    }
  }

  /** A standby says that it takes no writes: it does not stand in for a primary that says nothing. Where all say something, nothing is waited for. */
  async #isAnswered(): Promise<boolean> {
    const { host, port, otherHosts = [] } = this.#settings
    const hosts = [{ host, port }, ...otherHosts]
    const answers = await Promise.all(hosts.map((each) => answerOf({ ...this.#settings, ...each }, LOOK_MS)))
    return answers.includes('takes writes') || !answers.includes('nothing')
  }

  async #pause(): Promise<void> {
    await setTimeout(INTERVAL_MS, undefined, { signal: this.#closed.signal }).catch(() => undefined)
  }
}
