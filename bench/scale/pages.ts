import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

import type { RunningBenchServer } from '../servers.js'

/** What is asked for by many at once. */
export interface AskedPage {
  readonly path: string
  readonly callers: number
}

/** What became of those who asked, and how long others waited for something else meanwhile, in milliseconds. */
export interface FloodResult {
  readonly answered: number
  readonly refused: number
  readonly lastMs: number
  readonly longestProbeMs: number
  readonly longestNewMs: number
  readonly longestOpenMs: number
  readonly peakMb: number
}

/** So many decisions with inputs of 1.8 KB are a page of 1 MB. */
const DECISIONS = 700
const INPUT = JSON.stringify({ input: { bad: true, filler: 'x'.repeat(1800) } })
const DECISION = { path: '/v1/data/bench/access/allow', body: INPUT }
const PROBE = { path: '/health' }
const EVERY_MS = 20
const WARM_UP_MS = 1000

interface Asked {
  readonly path: string
  readonly body?: string
}

interface Answer {
  readonly status: number
  readonly ms: number
}

/** Fills the decision log, then has all callers ask at once, over a new connection each, and others go on with probes and decisions. */
export async function floodWithPages(
  server: RunningBenchServer,
  url: string,
  { path, callers }: AskedPage,
): Promise<FloodResult> {
  const open = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let decision = 0; decision < DECISIONS; decision += 1) await ask(url, DECISION, open)
  server.resetPeak()
  const [probes, anew, kept] = [new Waits(), new Waits(), new Waits()]
  const others = [
    probes.repeat(() => ask(url, PROBE)),
    anew.repeat(() => ask(url, DECISION)),
    kept.repeat(() => ask(url, DECISION, open)),
  ]
  await pause(WARM_UP_MS)
  const answers = await Promise.all(Array.from({ length: callers }, () => ask(url, { path })))
  for (const waits of [probes, anew, kept]) waits.isOver = true
  await Promise.all(others)
  open.destroy()
  const answered = answers.filter(({ status }) => status === 200).length
  return {
    answered,
    refused: answers.filter(({ status }) => status === 503).length,
    lastMs: Math.max(...answers.map(({ ms }) => ms)),
    longestProbeMs: probes.longestMs,
    longestNewMs: anew.longestMs,
    longestOpenMs: kept.longestMs,
    peakMb: server.peakMb(),
  }
}

/** How long somebody waits who asks for the same again and again. */
class Waits {
  isOver = false
  longestMs = 0

  async repeat(asks: () => Promise<Answer>): Promise<void> {
    while (!this.isOver) {
      const { status, ms } = await asks()
      if (status !== 200) throw new Error(`an answer ${status} beside the pages`)
      this.longestMs = Math.max(this.longestMs, ms)
      await pause(EVERY_MS)
    }
  }
}

/** Status 0 for a connection that broke off. Without an agent the connection is a new one. */
function ask(url: string, { path, body }: Asked, agent: Agent | false = false): Promise<Answer> {
  const begun = performance.now()
  const method = body === undefined ? 'GET' : 'POST'
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ status, ms: performance.now() - begun })
    const sent = request(url + path, { method, headers, agent }, (answer) => {
      answer.resume().once('end', () => end(answer.statusCode ?? 0))
    })
    sent.once('error', () => end(0)).end(body)
  })
}
