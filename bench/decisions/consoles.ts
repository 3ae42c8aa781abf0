import { Agent, get } from 'node:http'
import type { ClientRequest } from 'node:http'

import { median } from 'd3-array'

import { requestText, runSteadily, timeRequest } from '../lib/load.js'
import type { Step } from '../lib/load.js'
import type { Latencies } from '../lib/report.js'
import type { Server } from '../lib/servers.js'

/** Approvals that wait, so that home pages have something to show. */
const WAITING = 50
const WARM_UP_SECONDS = 2
const ACCEPTED = 202

export const CONSOLE_CONFIG = {
  decisions: { enabled: true },
  callbacks: { allowLoopback: true },
  gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
}

/** Latencies of decisions in each round, without and with open consoles. */
export interface ConsoleResult {
  readonly alone: readonly Latencies[]
  readonly open: readonly Latencies[]
  /** Updates that the consoles received. */
  readonly events: number
}

interface ConsoleLoad {
  readonly consoles: number
  readonly rate: number
  readonly seconds: number
  readonly rounds: number
  readonly decision: { readonly path: string; readonly body: string }
}

/** Measures decisions at a steady rate in turn without and with home pages that update themselves. */
export async function measureConsoles({ url }: Server, load: ConsoleLoad): Promise<ConsoleResult> {
  const callbacks = {
    approvalCallbackURL: 'http://127.0.0.1:1/y',
    rejectionCallbackURL: 'http://127.0.0.1:1/n',
  }
  for (let nth = 0; nth < WAITING; nth += 1)
    await requestText(
      url,
      {
        ...{ method: 'POST', path: '/visibilityservice/v5/approvalGates/7/trigger' },
        value: { ...callbacks, executionId: `run-${nth}`, toolConnectorParameters: '' },
      },
      [ACCEPTED],
    )
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const step: Step = {
    kind: 'decision',
    send: async () => {
      const { status } = await timeRequest(url + load.decision.path, load.decision.body, agent)
      if (status !== 200) throw new Error(`a decision was answered with ${status}`)
    },
  }
  const steps = function* (): Generator<Step> {
    for (;;) yield step
  }
  const decide = async (seconds: number): Promise<Latencies> => {
    const taken = await runSteadily(steps(), load.rate, seconds)
    const of = taken.get('decision')
    if (of === undefined || taken.size > 1) throw new Error('decisions failed')
    return of
  }
  await decide(WARM_UP_SECONDS)
  const alone: Latencies[] = []
  const open: Latencies[] = []
  let events = 0
  for (let round = 0; round < load.rounds; round += 1) {
    alone.push(await decide(load.seconds))
    const feeds = await Promise.all(
      Array.from({ length: load.consoles }, () => openConsole(url, () => (events += 1))),
    )
    open.push(await decide(load.seconds))
    for (const feed of feeds) feed.destroy()
  }
  agent.destroy()
  return { alone, open, events }
}

/** Resolves when the first bytes arrive. */
function openConsole(url: string, noteEvent: () => void): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const asked = get(`${url}/ui/home/events`, { agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`a console was answered with ${answer.statusCode}`))
      answer.on('error', () => undefined)
      answer.setEncoding('utf8').on('data', (text: string) => {
        if (text.startsWith(':') || text.startsWith('event: page')) noteEvent()
        resolve(asked)
      })
    })
    asked.on('error', reject)
  })
}

/** The median of the rounds' latencies. */
export function medianOf(rounds: readonly Latencies[]): Latencies {
  const of = (read: (one: Latencies) => number): number => median(rounds, read) ?? Number.NaN
  return {
    requests: of(({ requests }) => requests),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    maxMs: of(({ maxMs }) => maxMs),
  }
}
