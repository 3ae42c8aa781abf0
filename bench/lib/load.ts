import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { ask } from '../../test/support/http-client.js'
import type { Asked } from '../../test/support/http-client.js'
import { latenciesOf } from './report.js'
import type { Latencies } from './report.js'
import { CALLER_CORE } from './servers.js'

const run = promisify(execFile)

/** Results of wrk. */
export interface WrkResult extends Omit<Latencies, 'maxMs'> {
  readonly perSecond: number
  /** Responses other than 2xx, and broken connections. */
  readonly failures: number
}

/**
 * Loads a server with wrk on a separate core: as many requests as it answers over some connections,
 * or over a new one each.
 */
export async function drive(
  url: string,
  { path, body }: { readonly path: string; readonly body: string },
  {
    connections,
    seconds,
    directory,
  }: { readonly connections: number | 'new'; readonly seconds: number; readonly directory: string },
): Promise<WrkResult> {
  const script = join(directory, 'post.lua')
  writeFileSync(script, wrkScript(body, connections === 'new'))
  const open = connections === 'new' ? 16 : connections
  const wrk = ['wrk', '-t1', `-c${open}`, `-d${seconds}s`, '--latency', '-s', script, url + path]
  const { stdout } = await run('taskset', ['-c', CALLER_CORE, ...wrk])
  const measured = /p50=(\d+) p99=(\d+) requests=(\d+) duration=(\d+) failures=(\d+)/
    .exec(stdout)
    ?.slice(1)
    .map(Number)
  // wrk reports microseconds.
  const [p50 = 0, p99 = 0, requests = 0, duration = 0, failures = 0] = measured ?? []
  if (duration === 0) throw new Error(`wrk printed no measurements:\n${stdout}`)
  return { perSecond: (requests / duration) * 1e6, requests, p50Ms: p50 / 1000, p99Ms: p99 / 1000, failures }
}

function wrkScript(body: string, connectsAnew: boolean): string {
  return `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
${connectsAnew ? 'wrk.headers["Connection"] = "close"' : ''}
wrk.body = [==[${body}]==]
done = function(summary, latency)
  io.write(string.format("p50=%d p99=%d requests=%d duration=%d failures=%d\\n",
    latency:percentile(50), latency:percentile(99), summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end`
}

/**
 * Sends a request and returns the text of the response. Throws for a status other than 200 or the
 * given ones.
 */
export async function requestText(
  url: string,
  asked: Asked & { readonly value?: unknown },
  others: readonly number[] = [],
): Promise<string> {
  const { value, headers } = asked
  const json =
    value === undefined
      ? {}
      : { body: JSON.stringify(value), headers: { 'content-type': 'application/json', ...headers } }
  const { status, text } = await ask(url, { ...asked, ...json })
  if (status !== 200 && !others.includes(status)) throw new Error(`${asked.path}: ${status} ${text}`)
  return text
}

/** A response and its latency. The status is 0 for a broken connection. */
export interface TimedAnswer {
  readonly status: number
  readonly text: string
  readonly ms: number
}

/** Sends a request over a new connection, or over one of an agent: a POST if there is a body. */
export function timeRequest(url: string, body?: string, agent: Agent | false = false): Promise<TimedAnswer> {
  const begun = performance.now()
  const method = body === undefined ? 'GET' : 'POST'
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve) => {
    let text = ''
    const end = (status: number): void => resolve({ status, text, ms: performance.now() - begun })
    const sent = request(url, { method, headers, agent }, (answer) => {
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.once('end', () => end(answer.statusCode ?? 0))
    })
    sent.once('error', () => end(0)).end(body)
  })
}

/** One request of a load: its kind and how to send it. */
export interface Step {
  readonly kind: string
  readonly send: () => Promise<unknown>
}

/** Latencies of the requests of each kind. */
export type LatenciesByKind = ReadonlyMap<string, Latencies>

/**
 * Sends requests at a fixed rate for some seconds, whether or not earlier ones have been answered.
 * Latency is measured from the scheduled time, so that a pause affects all requests that waited for
 * its end. Failed ones are a separate kind.
 */
export async function runSteadily(
  steps: Iterable<Step>,
  perSecond: number,
  seconds: number,
): Promise<LatenciesByKind> {
  const taken = new Map<string, number[]>()
  const running: Promise<void>[] = []
  const startedAt = performance.now()
  let index = 0
  for (const { kind, send } of steps) {
    const dueAt = startedAt + (index++ * 1000) / perSecond
    if (dueAt > startedAt + seconds * 1000) break
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    // A timer may fire slightly early. The request is then measured from its sending.
    const countedFrom = Math.min(dueAt, performance.now())
    const noteAs = (noted: string) => (): void => note(taken, noted, performance.now() - countedFrom)
    running.push(send().then(noteAs(kind), noteAs(`${kind}, failed`)))
  }
  await Promise.all(running)
  return new Map([...taken].map(([kind, times]) => [kind, latenciesOf(times)]))
}

/**
 * Sends a number of requests with some parallel clients, each of which waits for its response.
 * Returns the requests per second.
 */
export async function runFully(
  count: number,
  callers: number,
  send: (index: number) => Promise<unknown>,
): Promise<Latencies & { readonly perSecond: number }> {
  const times: number[] = []
  const startedAt = performance.now()
  let next = 0
  const call = async (): Promise<void> => {
    while (next < count) {
      const begun = performance.now()
      await send(next++)
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { ...latenciesOf(times), perSecond: (count / (performance.now() - startedAt)) * 1000 }
}

/** The columns of `latencyCells`. */
export const LATENCY_COLUMNS = 'requests | p50 ms | p99 ms | max ms'

export function latencyCells({ requests, p50Ms, p99Ms, maxMs }: Latencies): number[] {
  return [requests, p50Ms, p99Ms, maxMs]
}

function note(taken: Map<string, number[]>, kind: string, ms: number): void {
  const times = taken.get(kind) ?? []
  times.push(ms)
  taken.set(kind, times)
}
