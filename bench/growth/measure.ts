import { setTimeout as sleep } from 'node:timers/promises'

import { requestText } from '../lib/load.js'
import type { Server } from '../lib/servers.js'

/** Resource use of one server for policies and data of one size. */
export interface Figures {
  /** CPU seconds from the start to the first answer, including child processes. */
  readonly loadSeconds: number
  /** Resident memory after the decisions and peak memory until then, in MB. */
  readonly residentMb: number
  readonly peakMb: number
  /** Mean CPU time of sequential decisions, in milliseconds. */
  readonly decisionMs: number
  /** Resident memory after several reloads. Undefined if none were requested. */
  readonly reloadedMb: number | undefined
  /** The answer as text. */
  readonly answer: string
}

/** A change of a file that a watching server loads. */
export interface Change {
  readonly times: number
  /** Makes the change with this number. */
  readonly make: (number: number) => void
  /** The expected answer after the change with this number. */
  readonly path: string
}

export interface Question {
  readonly path: string
  readonly input: unknown
  /** Maximum number of decisions. */
  readonly decisions: number
  readonly change?: Change | undefined
}

const WARM_UP = 20
/** Stops after this many milliseconds, if a few decisions were measured. */
const [ENOUGH_MS, MIN_DECISIONS] = [15_000, 20]
const [POLL_MS, CHANGE_LIMIT_MS] = [50, 300_000]
/** Wait for work that a reload postpones. */
const SETTLED_MS = 10_000

/** Measures a server that has just started, and ends it. Needs /proc. */
export async function measure(
  server: Server,
  { path, input, decisions, change }: Question,
): Promise<Figures> {
  const request = (): Promise<string> => requestText(server.url, { path, value: { input } }, [401])
  try {
    const loadSeconds = server.cpuSeconds()
    let answer = ''
    for (let round = 0; round < WARM_UP; round += 1) answer = await request()
    const [before, begun] = [server.cpuSeconds(), performance.now()]
    let measured = 0
    for (; measured < decisions; measured += 1) {
      if (measured >= MIN_DECISIONS && performance.now() - begun > ENOUGH_MS) break
      answer = await request()
    }
    const decisionMs = ((server.cpuSeconds() - before) * 1000) / measured
    const [residentMb, peakMb] = [server.residentMb(), server.peakMb()]
    const reloadedMb = change && (await reload(server, change, request))
    return { loadSeconds, decisionMs, residentMb, peakMb, reloadedMb, answer }
  } finally {
    await server.end()
  }
}

/**
 * Changes the files repeatedly, each time until the change is served. Returns the resident memory
 * in MB.
 */
async function reload(
  server: Server,
  { times, make, path }: Change,
  request: () => Promise<string>,
): Promise<number> {
  for (let number = 1; number <= times; number += 1) {
    make(number)
    const begun = performance.now()
    while (!(await requestText(server.url, { path, value: { input: {} } })).includes(`"change ${number}."`)) {
      if (performance.now() - begun > CHANGE_LIMIT_MS) throw new Error(`change ${number} is not served`)
      await sleep(POLL_MS)
    }
    for (let round = 0; round < WARM_UP; round += 1) await request()
  }
  await sleep(SETTLED_MS)
  return server.residentMb()
}
