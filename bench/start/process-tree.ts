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

/** CPU seconds of a process, of all below it, and of those that have ended and were waited for. */
export function treeCpuSeconds(root: number): number {
  const ticks = processTree(root).map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]), 0)
  })
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND
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
