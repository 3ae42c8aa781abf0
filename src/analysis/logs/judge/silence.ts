import { longestRun } from '../../statistics/longest-run.js'
import type { LogSide } from '../model/types.js'
import type { EventGroup } from './event-group.js'

const MINUTE_MS = 60_000
/** Shorter silences are pauses. */
const LEAST_MINUTES = 3
const LEAST_SHARE = 0.1
/** In so many of the minutes a side must talk for its silence to say anything. */
const TALKING_SHARE = 0.8
/** So many lines the canary would have written, for none to be no chance. */
const LEAST_EXPECTED = 10

/**
 * A stretch in which the canary logged nothing while its baseline did, and the canary itself had before: a stream that stopped, or that
 * was interrupted, as a sentence. Undefined where there is none, or where lines have no times.
 */
export function silenceOf(
  groups: readonly EventGroup[],
  baseline: LogSide | undefined,
  canary: LogSide,
): string | undefined {
  if (baseline === undefined) return undefined
  const minutes = Math.floor(Math.min(...[baseline, canary].map(lengthOf)) / MINUTE_MS)
  const now = perMinute(groups, 'canary', minutes)
  const before = perMinute(groups, 'baseline', minutes)
  const { from, to } = longestRun(now, (count) => count === 0)
  const length = to - from
  // What is silent from its first minute on has perhaps begun later.
  if (from === 0 || length < Math.max(LEAST_MINUTES, minutes * LEAST_SHARE)) return undefined
  const talking = (counts: readonly number[]): number => counts.filter((count) => count > 0).length
  const [own, others] = [[...now.slice(0, from), ...now.slice(to)], before.slice(from, to)]
  if (talking(own) < own.length * TALKING_SHARE || talking(others) < length * TALKING_SHARE) return undefined
  const expected = (sum(own) / own.length) * length
  if (expected < LEAST_EXPECTED) return undefined
  const when = to === minutes ? `for the last ${length}` : `for ${length}`
  return `the canary logged nothing ${when} of ${minutes} minutes, from minute ${from + 1} on, where the baseline logged ${sum(others)} events: see whether it still runs, and whether its log still arrives`
}

function lengthOf({ startMs, endMs }: LogSide): number {
  return Math.max(0, endMs - startMs)
}

function perMinute(groups: readonly EventGroup[], side: 'baseline' | 'canary', minutes: number): number[] {
  const counts = new Array<number>(minutes).fill(0)
  for (const group of groups) {
    for (const [minute, events] of group[side].byMinute) {
      if (minute >= 0 && minute < minutes) counts[minute] = (counts[minute] ?? 0) + events
    }
  }
  return counts
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
