import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One request of a steady load: what kind it is, and how to send it. */
export interface Step {
  readonly kind: string
  readonly send: () => Promise<void>
}

export interface Latencies {
  readonly kind: string
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * Sends steps at a fixed rate, whether or not earlier ones have been answered. A latency counts from the moment at which
 * the step was due, so that a pause shows in all that had to wait for its end.
 */
export async function runSteadily(
  steps: Iterable<Step>,
  perSecond: number,
  seconds: number,
): Promise<Latencies[]> {
  const taken = new Map<string, number[]>()
  const running: Promise<void>[] = []
  const startedAt = performance.now()
  let index = 0
  for (const { kind, send } of steps) {
    const dueAt = startedAt + (index++ * 1000) / perSecond
    if (dueAt > startedAt + seconds * 1000) break
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    // A timer may fire a little early; the step is then counted from its sending.
    const countedFrom = Math.min(dueAt, performance.now())
    running.push(
      send().then(() => {
        const times = taken.get(kind) ?? []
        times.push(performance.now() - countedFrom)
        taken.set(kind, times)
      }),
    )
  }
  await Promise.all(running)
  return [...taken].map(([kind, times]) => summarise(kind, times))
}

function summarise(kind: string, times: number[]): Latencies {
  times.sort((one, other) => one - other)
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { kind, requests: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}

/** Sends one request; returns the body of its answer. Throws for anything but 200. */
export function sendJson(url: string, method: string, user: string, value?: unknown): Promise<string> {
  const body = value === undefined ? undefined : JSON.stringify(value)
  const headers = {
    'x-spinnaker-user': user,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
