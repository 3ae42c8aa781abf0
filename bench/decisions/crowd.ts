import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { max } from 'd3-array'

import { timeRequest } from '../lib/load.js'
import type { TimedAnswer } from '../lib/load.js'
import type { Server } from '../lib/servers.js'

interface Asked {
  readonly path: string
  readonly body?: string
}

/** Number of simultaneous requests. */
interface Crowd extends Asked {
  readonly name: string
  readonly callers: number
  /** Number of logged decisions with 1.8 KB inputs before the measurement. */
  readonly logged: number
}

/** Outcomes of the simultaneous requests, and the latency of other requests during them. */
interface CrowdResult {
  readonly answered: number
  readonly refused: number
  readonly failed: number
  readonly lastMs: number
  /**
   * Latency of a probe and a decision over a new connection, and of a decision over an open one.
   */
  readonly longestMs: readonly number[]
  readonly peakMb: number
}

const EVERY_MS = 20
const WARM_UP_MS = 1000
/** With this many loops a decision takes some milliseconds. */
const SOME_MS = JSON.stringify({ input: { size: 300 } })
const DECISION = '/v1/data/static/q'
const CHEAP: Asked = { path: DECISION, body: JSON.stringify({ input: { filler: 'x'.repeat(1800) } }) }
const PROBE: Asked = { path: '/health' }

export const CROWDS: readonly Crowd[] = [
  { name: '2,000 decisions of some ms', path: DECISION, body: SOME_MS, callers: 2000, logged: 0 },
  {
    name: '500 pages of the decision log, 1 MB each',
    path: '/decisions?limit=500&inputs=true',
    callers: 500,
    logged: 700,
  },
  { name: '2,000 /metrics', path: '/metrics', callers: 2000, logged: 0 },
]

/**
 * Sends all requests simultaneously, each over a new connection, while probes and decisions
 * continue.
 */
export async function gatherCrowd(server: Server, { callers, logged, ...sent }: Crowd): Promise<CrowdResult> {
  const { url } = server
  const open = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let decision = 0; decision < logged; decision += 1) await send(url, CHEAP, open)
  server.resetPeak()
  const state = { isOver: false }
  const others = [() => send(url, PROBE), () => send(url, CHEAP), () => send(url, CHEAP, open)].map((sends) =>
    longestOf(sends, state),
  )
  await sleep(WARM_UP_MS)
  const answers = await Promise.all(Array.from({ length: callers }, () => send(url, sent)))
  state.isOver = true
  const longestMs = await Promise.all(others)
  open.destroy()
  const withStatus = (status: number): number => answers.filter((answer) => answer.status === status).length
  const [answered, refused] = [withStatus(200), withStatus(503)]
  const lastMs = max(answers, ({ ms }) => ms) ?? 0
  return {
    answered,
    refused,
    failed: callers - answered - refused,
    lastMs,
    longestMs,
    peakMb: server.peakMb(),
  }
}

/** The longest latency of a client that repeats the same request. */
async function longestOf(
  sends: () => Promise<TimedAnswer>,
  state: { readonly isOver: boolean },
): Promise<number> {
  let longestMs = 0
  while (!state.isOver) {
    const { status, ms } = await sends()
    // A decision may be refused like the simultaneous ones.
    if (status !== 200 && status !== 503)
      throw new Error(`an answer ${status} during the simultaneous requests`)
    longestMs = Math.max(longestMs, ms)
    await sleep(EVERY_MS)
  }
  return longestMs
}

function send(url: string, { path, body }: Asked, agent?: Agent): Promise<TimedAnswer> {
  return timeRequest(url + path, body, agent)
}
