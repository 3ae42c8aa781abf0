import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

import { max } from 'd3-array'

import { timeRequest } from '../lib/load.js'

/** The request, the number of connections and the total rate. */
interface ProbeRequest {
  readonly url: string
  readonly connections: number
  readonly perSecond: number
}

/** One response and its connection. */
interface ProbeAnswer {
  readonly place: number
  readonly text: string
  readonly ms: number
}

/** Time after which the probe gives up on a response. */
const LIMIT_MS = 60_000

/**
 * Repeats a request over many connections at a steady rate in a separate thread. A thread that
 * changes thousands of files at the same time would measure its own delays.
 */
export class Probes {
  readonly #thread: Worker
  readonly #answers: string[]
  #times: number[] = []

  /** If two processes share an address, each serves some connections. */
  constructor(url: string, connections: number, perSecond: number) {
    this.#answers = Array.from({ length: connections }, () => '')
    const request: ProbeRequest = { url, connections, perSecond }
    this.#thread = new Worker(new URL(import.meta.url), { workerData: request })
    this.#thread.on('message', ({ place, text, ms }: ProbeAnswer) => {
      this.#answers[place] = text
      this.#times.push(ms)
    })
  }

  /**
   * Resolves when the last response on every connection contains a text. Rejects after a timeout.
   */
  async untilAllSay(text: string): Promise<void> {
    const begun = performance.now()
    while (!this.#answers.every((answer) => answer.includes(text))) {
      if (performance.now() - begun > LIMIT_MS)
        throw new Error(`not all connections say ${text}: ${this.#answers.join('; ')}`)
      await sleep(1)
    }
  }

  /** The longest latency since the last call. */
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
    const { text, ms } = await timeRequest(url, '{"input":{}}', agent)
    const told: ProbeAnswer = { place, text, ms }
    parentPort?.postMessage(told)
    await sleep(Math.max(0, pauseMs - ms))
  }
}

if (!isMainThread) {
  const asked = workerData as ProbeRequest
  await Promise.all(Array.from({ length: asked.connections }, (_, place) => probe(place, asked)))
}
