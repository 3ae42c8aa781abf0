import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { memoryMb, treeCpuSeconds } from './process-tree.js'

/** A server under test. */
export interface BenchServer {
  readonly name: 'tidegate' | 'opa'
  readonly url: string
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface RunningBenchServer {
  /** Resident memory of its main process now, in MB. */
  readonly residentMb: () => number
  /** The most of it since the start or the last `resetPeak`, in MB. */
  readonly peakMb: () => number
  readonly resetPeak: () => void
  /** User and system time used so far, in seconds, by all of its processes: other load on the machine hardly changes it. */
  readonly cpuSeconds: () => number
  /** Resolves once the server has nothing to do any more. */
  readonly idle: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Ends it by SIGKILL. */
  readonly kill: () => Promise<void>
}

const START_LIMIT_MS = 20_000
const POLL_MS = 100
/** A server counts as idle when it used less than a twentieth of a core for a second. */
const IDLE_WINDOW_MS = 1000
const IDLE_SECONDS = 0.05

/** Starts a server pinned to one core and waits until it answers. Its output goes to a file. */
export async function startBenchServer(
  server: BenchServer,
  /** A core, or a range of them as `taskset` takes it. */
  core: number | string,
  directory: string,
): Promise<RunningBenchServer> {
  const output = openSync(join(directory, `${server.name}.log`), 'a')
  const child = spawn('taskset', ['-c', String(core), ...server.command], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...server.env },
  })
  closeSync(output)
  await untilHealthy(server, child)
  // taskset becomes the program itself, so the child's id is the server's.
  const { pid = 0 } = child
  return {
    residentMb: () => memoryMb(pid, 'VmRSS'),
    peakMb: () => memoryMb(pid, 'VmHWM'),
    // 5 sets the peak to what is resident now (proc(5)).
    resetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
    cpuSeconds: () => treeCpuSeconds(pid),
    idle: () => untilIdle(pid),
    stop: () => endWith(child, 'SIGTERM'),
    kill: () => endWith(child, 'SIGKILL'),
  }
}

async function endWith(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

async function untilHealthy(server: BenchServer, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += POLL_MS) {
    if (child.exitCode !== null)
      throw new Error(`${server.name} ended with ${child.exitCode} before it served`)
    const isUp = await fetch(`${server.url}/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (isUp) return
    await sleep(POLL_MS)
  }
  throw new Error(`${server.name} did not answer within ${START_LIMIT_MS} ms`)
}

async function untilIdle(pid: number): Promise<void> {
  let now = treeCpuSeconds(pid)
  for (let before = -Infinity; now - before > IDLE_SECONDS; now = treeCpuSeconds(pid)) {
    before = now
    await sleep(IDLE_WINDOW_MS)
  }
}
