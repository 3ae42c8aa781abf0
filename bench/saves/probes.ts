import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a request may take before the probe gives up. */
const LIMIT_MS = 30_000

/** Asks the same question over many connections at a steady rate, as long as it runs. */
export class Probes {
  readonly #url: string
  readonly #agents: Agent[]
  readonly #answers: string[]
  #longestMs = 0
  #isRunning = true
  readonly #ended: Promise<unknown>

  /** Of two processes that listen on one address, some connections lead to each. */
  constructor(url: string, connections: number, perSecond: number) {
    this.#url = url
    this.#agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    this.#answers = this.#agents.map(() => '')
    const pauseMs = (1000 * connections) / perSecond
    this.#ended = Promise.all(this.#agents.map((agent, place) => this.#run(agent, place, pauseMs)))
  }

  /** The last answer on each connection. */
  get answers(): readonly string[] {
    return this.#answers
  }

  /** Resolves once the last answer on every connection holds a text; rejects after some time. */
  async untilAllSay(text: string): Promise<void> {
    const begun = performance.now()
    while (!this.#answers.every((answer) => answer.includes(text))) {
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
    this.#isRunning = false
    await this.#ended
    for (const agent of this.#agents) agent.destroy()
  }

  async #run(agent: Agent, place: number, pauseMs: number): Promise<void> {
    await sleep((pauseMs * place) / this.#agents.length)
    while (this.#isRunning) {
      const begun = performance.now()
      this.#answers[place] = await ask(agent, this.#url)
      const tookMs = performance.now() - begun
      this.#longestMs = Math.max(this.#longestMs, tookMs)
      await sleep(Math.max(0, pauseMs - tookMs))
    }
  }
}

function ask(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end('{"input":{}}')
  })
}
