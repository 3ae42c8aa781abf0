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
  const all = perMinute(groups, 'canary', minutes)
  // What is silent from its first minute on has perhaps begun later, and may fall silent all the same.
  const first = Math.max(
    0,
    all.findIndex((count) => count > 0),
  )
  const now = all.slice(first)
  const before = perMinute(groups, 'baseline', minutes).slice(first)
  const { from, to } = longestRun(now, (count) => count === 0)
  const length = to - from
  if (from === 0 || length < Math.max(LEAST_MINUTES, minutes * LEAST_SHARE)) return undefined
  if (!isNoChance(now, before, from, to)) return undefined
  const others = before.slice(from, to)
  const when = to === now.length ? `for the last ${length}` : `for ${length}`
  return `the canary logged nothing ${when} of ${minutes} minutes, from minute ${first + from + 1} on, where the baseline logged ${sum(others)} events: see whether it still runs, and whether its log still arrives`
}

/** Whether a side that talks else has nothing in these minutes, and the other one talks there. */
function isNoChance(own: readonly number[], other: readonly number[], from: number, to: number): boolean {
  const talking = (counts: readonly number[]): number => counts.filter((count) => count > 0).length
  const rest = [...own.slice(0, from), ...own.slice(to)]
  const length = to - from
  if (talking(rest) < rest.length * TALKING_SHARE) return false
  if (talking(other.slice(from, to)) < length * TALKING_SHARE) return false
  return rest.length > 0 && (sum(rest) / rest.length) * length >= LEAST_EXPECTED
}

/**
 * Sides that begin later than the other one, and baselines that end before their canary, as sentences: what happened there was compared with
 * nothing, which is no fault of the canary.
 */
export function quietEnds(
  groups: readonly EventGroup[],
  baseline: LogSide | undefined,
  canary: LogSide,
): readonly string[] {
  if (baseline === undefined) return []
  const minutes = Math.floor(Math.min(...[baseline, canary].map(lengthOf)) / MINUTE_MS)
  const least = Math.max(LEAST_MINUTES, minutes * LEAST_SHARE)
  const sides = {
    baseline: perMinute(groups, 'baseline', minutes),
    canary: perMinute(groups, 'canary', minutes),
  }
  const said: string[] = []
  for (const [name, other] of [
    ['canary', 'baseline'],
    ['baseline', 'canary'],
  ] as const) {
    const [own, others] = [sides[name], sides[other]]
    const first = own.findIndex((count) => count > 0)
    const end = own.findLastIndex((count) => count > 0) + 1
    if (first >= least && isNoChance(own, others, 0, first))
      said.push(
        `the ${name} logged nothing in the first ${first} of ${minutes} minutes, the ${other} ${sum(others.slice(0, first))} events`,
      )
    if (name === 'baseline' && end > 0 && minutes - end >= least && isNoChance(own, others, end, minutes))
      said.push(
        `the ${name} logged nothing in the last ${minutes - end} of ${minutes} minutes, the ${other} ${sum(others.slice(end))} events`,
      )
  }
  return said
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
