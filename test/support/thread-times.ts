import { readFileSync, readdirSync } from 'node:fs'

/** Returns the CPU time of one thread of a process in milliseconds, or NaN if it is unknown. */
export function threadTimeMs(pid: number, thread: number): number {
  try {
    // The first number of `schedstat` is in nanoseconds (proc(5)).
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return Number.NaN
  }
}

/** Returns the CPU times of a process's threads by identifier. Empty if they are unknown. */
export function threadTimesMs(pid: number): ReadonlyMap<number, number> {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map(Number)
    return new Map(threads.map((thread) => [thread, threadTimeMs(pid, thread)]))
  } catch {
    return new Map()
  }
}
