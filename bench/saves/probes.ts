import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

import type { ProbeAnswer, ProbeRequest } from './probing.js'

/** How long a request may take before the probe gives up. */
const LIMIT_MS = 30_000
const SCRIPT = new URL('probing.js', import.meta.url)

/**
 * Asks the same question over many connections at a steady rate, as long as it runs: in a thread of its own, as whoever changes
 * thousands of files has no time for anything else meanwhile, and would find that requests take as long as that.
 */
export class Probes {
  readonly #thread: Worker
  readonly #answers: string[]
  #longestMs = 0
  #failure: Error | undefined

  /** Of two processes that listen on one address, some connections lead to each. */
  constructor(url: string, connections: number, perSecond: number) {
    this.#answers = Array.from({ length: connections }, () => '')
    const request: ProbeRequest = { url, connections, perSecond }
    this.#thread = new Worker(SCRIPT, { workerData: request })
    this.#thread.on('message', ({ place, answer, tookMs }: ProbeAnswer) => {
      this.#answers[place] = answer
      this.#longestMs = Math.max(this.#longestMs, tookMs)
    })
    this.#thread.on('error', (error) => (this.#failure = error))
  }

  /** The last answer on each connection. */
  get answers(): readonly string[] {
    return this.#answers
  }

  /** Resolves once the last answer on every connection holds a text; rejects after some time, and where a request has failed. */
  async untilAllSay(text: string): Promise<void> {
    const begun = performance.now()
    while (!this.#answers.every((answer) => answer.includes(text))) {
      if (this.#failure !== undefined) throw this.#failure
      if (performance.now() - begun > LIMIT_MS) throw new Error(`not all connections say ${text}`)
      await sleep(1)
    }
  }

  /** The longest that a request took since this was last asked. */
  takeLongestMs(): number {
    const longest = this.#longestMs
    this.#longestMs = 0
    return longest
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }
}
