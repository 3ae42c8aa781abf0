import { execFile } from 'node:child_process'
import { openSync, readFileSync, readSync, readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

const NS_PER_MS = 1_000_000
const OWN_FILE = '/proc/thread-self/schedstat'
/**
 * Three decimal numbers: CPU time in nanoseconds, time waiting for a core in nanoseconds, and a
 * count.
 */
const buffer = Buffer.alloc(128)

let clock: (() => number) | undefined

/**
 * CPU time of the calling thread in milliseconds (Linux, `proc(5)`), without time waiting for a
 * core. Elapsed time on other systems. Only differences are meaningful.
 */
export function threadCpuMs(): number {
  clock ??= openClock()
  return clock()
}

/** CPU and waiting times of a thread, in milliseconds since its start. */
export interface ThreadTimes {
  readonly onCoreMs: number
  /** Time spent waiting for a core. */
  readonly waitedMs: number
}

/**
 * Times of another thread of this process by its system id. Undefined if the system does not report
 * them.
 */
export function timesOfThread(systemId: number): ThreadTimes | undefined {
  try {
    const text = readFileSync(`/proc/self/task/${systemId}/schedstat`, 'latin1')
    const onCoreMs = parse(text)
    const waitedMs = parse(text.slice(text.indexOf(' ') + 1)) ?? 0
    return onCoreMs === undefined ? undefined : { onCoreMs, waitedMs }
  } catch {
    return undefined
  }
}

function openClock(): () => number {
  try {
    const file = openSync(OWN_FILE, 'r')
    const read = (): number | undefined =>
      parse(buffer.toString('latin1', 0, readSync(file, buffer, 0, 128, 0)))
    if (read() !== undefined) return () => read() ?? 0
  } catch {
    // The file exists on Linux only.
  }
  return () => performance.now()
}

function parse(text: string): number | undefined {
  const nanoseconds = Number(text.slice(0, text.indexOf(' ')))
  return Number.isFinite(nanoseconds) && nanoseconds > 0 ? nanoseconds / NS_PER_MS : undefined
}

/** Lowers the priority of the calling thread by this much (Linux only). */
export function lowerThreadPriority(niceness: number): void {
  // On Linux the priority belongs to the thread, and 0 means the calling one. Elsewhere this would
  // slow down the whole process.
  if (process.platform !== 'linux') return
  // Relative to the current value, because a process may not raise its priority again.
  setPriority(0, Math.min(getPriority(0) + niceness, constants.priority.PRIORITY_LOW))
}

/** The `nice` increment of work that may wait. */
const NICENESS = 10

/**
 * Lowers the priority of the calling thread, and gives it the class of idle work if the program
 * `chrt` is installed (Linux, `sched(7)`). Any other thread that wakes up then takes its core
 * immediately. By priority alone, it waits for the end of a time slice.
 */
export function becomeIdleWork(): void {
  lowerThreadPriority(NICENESS)
  const systemId = systemThreadId()
  if (systemId === undefined) return
  const arguments_ = ['--idle', '--pid', '0', String(systemId)]
  // Without the program, the priority remains.
  execFile('chrt', arguments_, () => undefined)
}

/** The id of the calling thread for the system, by which other threads read its CPU time (Linux only). */
export function systemThreadId(): number | undefined {
  try {
    // `/proc/thread-self` links to PROCESS/task/THREAD.
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return undefined
  }
}
