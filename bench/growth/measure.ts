import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { processCpuSeconds, memoryMb } from '../process-tree.js'

/** What one server needs for policies and data of one size. */
export interface Figures {
  /** CPU seconds from the start to the first answer, those of programs that it started included. */
  readonly loadSeconds: number
  /** Resident memory after the decisions, and the most until then, in MB. */
  readonly residentMb: number
  readonly peakMb: number
  /** CPU milliseconds of a decision, the mean of many one after the other. */
  readonly decisionMs: number
  /** Resident memory once it has loaded again a few times; undefined where it was not to. */
  readonly reloadedMb: number | undefined
  /** The answer, as text. */
  readonly answer: string
}

/** A change that a server that watches its files takes up. */
export interface Change {
  /** Makes the change of this number. */
  readonly make: (number: number) => void
  /** What answers with that number then. */
  readonly path: string
}

export interface Measured {
  readonly command: readonly string[]
  readonly url: string
  /** Where a decision is asked for, and the body. */
  readonly path: string
  readonly body: string
  /** At the most. */
  readonly decisions: number
  readonly limitMs: number
  readonly reloads?: { readonly times: number; readonly change: Change } | undefined
}

const POLL_MS = 50
const WARM_UP = 20
/** No further decision is asked for once they have taken this long, if there were a few. */
const [ENOUGH_MS, FEWEST] = [15_000, 20]
/** Until what a reload leaves to do later is done, too. */
const SETTLED_MS = 10_000

/** Starts a server, asks it, and ends it. Raises where it does not answer in time. Needs /proc. */
export async function measure(measured: Measured): Promise<Figures> {
  const [program = '', ...args] = measured.command
  // What one process takes is measured, so there is one that decides.
  const env = { ...process.env, TIDEGATE_SERVER_WORKERS: '1' }
  const child = spawn(program, args, { stdio: 'ignore', env })
  const { pid = 0 } = child
  try {
    await untilHealthy(child, measured)
    const loadSeconds = processCpuSeconds(pid)
    let answer = ''
    for (let round = 0; round < WARM_UP; round += 1) answer = await ask(measured)
    const [before, begun] = [processCpuSeconds(pid), performance.now()]
    let asked = 0
    for (; asked < measured.decisions; asked += 1) {
      if (asked >= FEWEST && performance.now() - begun > ENOUGH_MS) break
      answer = await ask(measured)
    }
    const decisionMs = ((processCpuSeconds(pid) - before) * 1000) / asked
    const [residentMb, peakMb] = [memoryMb(pid, 'VmRSS'), memoryMb(pid, 'VmHWM')]
    const reloadedMb = measured.reloads && (await reload(measured, measured.reloads, pid))
    return { loadSeconds, decisionMs, residentMb, peakMb, reloadedMb, answer }
  } finally {
    await stop(child)
  }
}

/** Changes the files again and again, each time until that is served and has been asked about, and gives the resident memory in MB. */
async function reload(
  measured: Measured,
  { times, change }: NonNullable<Measured['reloads']>,
  pid: number,
): Promise<number> {
  for (let number = 1; number <= times; number += 1) {
    change.make(number)
    await untilChanged(measured, change.path, `"change ${number}."`)
    for (let round = 0; round < WARM_UP; round += 1) await ask(measured)
  }
  await sleep(SETTLED_MS)
  return memoryMb(pid, 'VmRSS')
}

async function untilChanged({ url, limitMs }: Measured, path: string, answer: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
    if ((await ask({ url, path, body: '{"input":{}}' })).includes(answer)) return
    await sleep(POLL_MS)
  }
  throw new Error(`it did not serve ${answer} within ${limitMs} ms`)
}

async function untilHealthy(child: ChildProcess, { url, limitMs }: Measured): Promise<void> {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it served`)
    const isUp = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (isUp) return
    await sleep(POLL_MS)
  }
  throw new Error(`it did not answer within ${limitMs} ms`)
}

async function ask({ url, path, body }: Pick<Measured, 'url' | 'path' | 'body'>): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  return await response.text()
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
