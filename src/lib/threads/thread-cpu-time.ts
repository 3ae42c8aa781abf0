import { openSync, readFileSync, readSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

const NS_PER_MS = 1_000_000
const OWN_FILE = '/proc/thread-self/schedstat'
/** Three decimal numbers, the first of which is the time on a core in nanoseconds, the second that of waiting for one. */
const buffer = Buffer.alloc(128)

let clock: (() => number) | undefined

/**
 * The time that the calling thread has had on a core, in milliseconds, where the system tells (Linux, `proc(5)`): waiting for a
 * busy core does not count. Elsewhere the time that has passed. Only differences mean anything.
 */
export function threadCpuMs(): number {
  clock ??= openClock()
  return clock()
}

/** What a thread has had of the cores, in milliseconds since it began. */
export interface ThreadTimes {
  readonly onCoreMs: number
  /** How long it could have gone on, had a core been free. */
  readonly waitedMs: number
}

/** The times of another thread of this process, by its number in the system; undefined where the system does not tell. */
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
    // No such file: another system than Linux.
  }
  return () => performance.now()
}

function parse(text: string): number | undefined {
  const nanoseconds = Number(text.slice(0, text.indexOf(' ')))
  return Number.isFinite(nanoseconds) && nanoseconds > 0 ? nanoseconds / NS_PER_MS : undefined
}

/** Makes the calling thread so much nicer to others on a busy core, where the system can: on Linux. */
export function lowerThreadPriority(niceness: number): void {
  // Linux keeps a priority per thread, where 0 means the calling one; elsewhere it would slow the whole process.
  if (process.platform !== 'linux') return
  // From where it stands: a process that was started nicer may not take any of that back.
  setPriority(0, Math.min(getPriority(0) + niceness, constants.priority.PRIORITY_LOW))
}
