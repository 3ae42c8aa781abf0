import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

import { max } from 'd3-array'

import { askAnew } from '../lib/load.js'

/** What is asked, over how many connections, and how often by all of them. */
interface ProbeRequest {
  readonly url: string
  readonly connections: number
  readonly perSecond: number
}

/** What one request brought, over which connection. */
interface ProbeAnswer {
  readonly place: number
  readonly text: string
  readonly ms: number
}

/** How long an answer may stay away before the probe gives up. */
const LIMIT_MS = 60_000

/**
 * Asks the same question over many connections at a steady rate, as long as it runs: in a thread of its own, as whoever changes
 * thousands of files has no time for anything else meanwhile, and would find that requests take as long as that.
 */
export class Probes {
  readonly #thread: Worker
  readonly #answers: string[]
  #times: number[] = []

  /** Of two processes that listen on one address, some connections lead to each. */
  constructor(url: string, connections: number, perSecond: number) {
    this.#answers = Array.from({ length: connections }, () => '')
    const request: ProbeRequest = { url, connections, perSecond }
    this.#thread = new Worker(new URL(import.meta.url), { workerData: request })
    this.#thread.on('message', ({ place, text, ms }: ProbeAnswer) => {
      this.#answers[place] = text
      this.#times.push(ms)
    })
  }

  /** Resolves once the last answer on every connection holds a text; rejects after some time. */
  async untilAllSay(text: string): Promise<void> {
    const begun = performance.now()
    while (!this.#answers.every((answer) => answer.includes(text))) {
      if (performance.now() - begun > LIMIT_MS)
        throw new Error(`not all connections say ${text}: ${this.#answers.join('; ')}`)
      await sleep(1)
    }
  }

  /** The longest that a request took since this was last asked. */
  takeLongestMs(): number {
    const longest = max(this.#times) ?? 0
    this.#times = []
    return longest
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }
}

async function probe(place: number, { url, connections, perSecond }: ProbeRequest): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const pauseMs = (1000 * connections) / perSecond
  await sleep((pauseMs * place) / connections)
  for (;;) {
    const { text, ms } = await askAnew(url, '{"input":{}}', agent)
    const told: ProbeAnswer = { place, text, ms }
    parentPort?.postMessage(told)
    await sleep(Math.max(0, pauseMs - ms))
  }
}

if (!isMainThread) {
  const asked = workerData as ProbeRequest
  await Promise.all(Array.from({ length: asked.connections }, (_, place) => probe(place, asked)))
}
