import { setTimeout as sleep } from 'node:timers/promises'

import { requestText, runFully, runSteadily } from '../lib/load.js'
import type { LatenciesByKind, Step } from '../lib/load.js'
import type { Server } from '../lib/servers.js'

export type StoreServer = Server

/** A measurement over one store. */
export interface Bench {
  readonly events: number
  readonly instances: number
  readonly applications: number
  readonly pipelines: number
  readonly callers: number
  readonly rate: number
  readonly seconds: number
  readonly rounds: number
  /** The names of the services that share the store. */
  readonly services: readonly string[]
  readonly directory: string
  readonly start: (name: string, config: Readonly<Record<string, object>>) => Promise<StoreServer>
  /**
   * Prints the operation, its number, the rate per second, and p50, p99 and maximum in
   * milliseconds.
   */
  readonly row: (operation: string, ...values: (number | undefined)[]) => void
}

const POLL_MS = 250
const LIMIT_MS = 900_000
const INPUT = { input: { user: 'ana', roles: ['dev'], action: 'deploy' } }
let eventsSent = 0

/** Starts all services and ends them afterwards. */
export async function withServices(
  { services, start }: Bench,
  config: Readonly<Record<string, object>>,
  act: (first: StoreServer, of: (index: number) => string) => Promise<void>,
): Promise<void> {
  const servers: StoreServer[] = []
  try {
    for (const name of services) servers.push(await start(name, config))
    const [first] = servers
    if (first === undefined) throw new Error('no service was started')
    await act(first, (index) => (servers[index % servers.length] ?? first).url)
  } finally {
    for (const server of servers) await server.end()
  }
}

/** Sends a number of requests with all clients and prints their measurements. */
export async function fully(
  { row, callers }: Bench,
  what: string,
  count: number,
  send: (index: number) => Promise<unknown>,
  atATime = callers,
): Promise<void> {
  const { requests, perSecond, p50Ms, p99Ms, maxMs } = await runFully(count, atATime, send)
  row(what, requests, perSecond, p50Ms, p99Ms, maxMs)
}

/** Prints the measurements of each kind of a steady load. */
export function steady({ row }: Bench, what: string, latencies: LatenciesByKind): void {
  for (const [kind, { requests, p50Ms, p99Ms, maxMs }] of latencies)
    row(`${what}: ${kind}`, requests, undefined, p50Ms, p99Ms, maxMs)
}

/**
 * Sends decisions, and an event after every fourth, until a task is done. Prints its duration and
 * their measurements.
 */
export async function withLoad(
  bench: Bench,
  url: string,
  what: string,
  untilDone: () => Promise<unknown>,
): Promise<void> {
  let doneMs: number | undefined
  const begun = performance.now()
  const done = untilDone().finally(() => (doneMs = performance.now() - begun))
  const steps = function* (): Generator<Step> {
    for (let index = 0; doneMs === undefined; index += 1) {
      if (index % 5 === 4) yield { kind: 'events', send: () => sendEvent(url, `beside-${(eventsSent += 1)}`) }
      else
        yield {
          kind: 'decisions',
          send: () => requestText(url, { path: '/v1/data/bench/access/allow', value: INPUT }),
        }
    }
  }
  const latencies = await runSteadily(steps(), bench.rate, LIMIT_MS / 1000)
  await done
  bench.row(`${what}, done after`, undefined, undefined, undefined, undefined, doneMs)
  steady(bench, `  meanwhile`, latencies)
}

function sendEvent(url: string, eventId: string): Promise<string> {
  return requestText(url, { path: '/platform/echo', value: { eventId, name: 'orca:task:complete' } })
}

/** Resolves when a condition holds. Throws if that takes longer than a quarter of an hour. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const begun = performance.now()
  while (!(await isSo())) {
    if (performance.now() - begun > LIMIT_MS) throw new Error(`it takes too long: ${what}`)
    await sleep(POLL_MS)
  }
}
