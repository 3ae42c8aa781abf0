import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server under test. */
export interface BenchServer {
  readonly name: 'tidegate' | 'opa'
  readonly url: string
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface RunningBenchServer {
  /** Resident memory now, in MB. */
  readonly residentMb: () => number
  /** The most of it since the start or the last `resetPeak`, in MB. */
  readonly peakMb: () => number
  readonly resetPeak: () => void
  /** User and system time used so far, in seconds: other load on the machine hardly changes it. */
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
const IDLE_TICKS = 5
const TICKS_PER_SECOND = 100

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
  return {
    residentMb: () => memoryMb(child, 'VmRSS'),
    peakMb: () => memoryMb(child, 'VmHWM'),
    // 5 sets the peak to what is resident now (proc(5)).
    resetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    cpuSeconds: () => cpuTicks(child) / TICKS_PER_SECOND,
    idle: () => untilIdle(child),
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

async function untilIdle(child: ChildProcess): Promise<void> {
  for (let before = -Infinity, now = cpuTicks(child); now - before > IDLE_TICKS; now = cpuTicks(child)) {
    before = now
    await sleep(IDLE_WINDOW_MS)
  }
}

/** User and system time, in hundredths of a second (proc(5)): the 14th and 15th field, behind the name in brackets. */
function cpuTicks(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** taskset becomes the program itself, so the child's id is the server's. */
function memoryMb(child: ChildProcess, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024
}
