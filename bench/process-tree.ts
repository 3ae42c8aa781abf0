import { readFileSync, readdirSync } from 'node:fs'

/** What a process and all that it started hold, in MB: resident, and its proportional share of what it shares with others (proc(5), `smaps_rollup`). */
export interface HeldMemory {
  readonly processes: number
  readonly residentMb: number
  readonly proportionalMb: number
}

const TICKS_PER_SECOND = 100
const KB_PER_MB = 1024

/** A process and all below it. */
export function processTree(root: number): number[] {
  const found = [root]
  for (const pid of found) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      found.push(...children.split(' ').filter(Boolean).map(Number))
    }
  }
  return found
}

/** CPU seconds of a process, user and system, and of those that it started, that have ended and that it waited for: fields 14 to 17 (proc(5)), behind the name in brackets. */
export function processCpuSeconds(pid: number): number {
  return seconds(pid, 11, 15)
}

/** CPU seconds of the programs that this process started and waited for: fields 16 and 17. */
export function waitedForSeconds(): number {
  return seconds('self', 13, 15)
}

function seconds(pid: number | 'self', first: number, end: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(first, end).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}

/** CPU seconds of a process, of all below it, and of those that have ended and were waited for. */
export function treeCpuSeconds(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + processCpuSeconds(pid), 0)
}

/** What a process alone holds now, or the most that it held, in MB. */
export function memoryMb(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / KB_PER_MB
}

/** What a process and all below it hold now. */
export function treeMemory(root: number): HeldMemory {
  const pids = processTree(root)
  const texts = pids.map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  const sumMb = (figure: string): number =>
    texts.reduce(
      (sum, text) => sum + Number(new RegExp(`^${figure}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]),
      0,
    ) / KB_PER_MB
  return { processes: pids.length, residentMb: sumMb('Rss'), proportionalMb: sumMb('Pss') }
}
