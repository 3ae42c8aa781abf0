import type { LogExposure, LogJudgeInput, LogSide } from '../model/types.js'
import type { CountedEvents } from './count-events.js'
import { instanceMinutes } from './exposure.js'
import { longestRun } from '../../statistics/longest-run.js'
import type { EventGroup } from './side-events.js'
import type { Comparison } from './compare-group.js'

/** Traffic and time that differ more than this let one doubt both. */
const MAX_DISAGREEMENT = 3

/** Warnings about the lines that the report rests on. */
export function warningsOf(
  { baseline, canary }: LogJudgeInput,
  { otherEvents, timelessLines }: CountedEvents,
  exposure: LogExposure,
): readonly string[] {
  const warnings: string[] = []
  if (baseline?.isTruncated) warnings.push('A limit left out lines of the baseline')
  if (canary.isTruncated) warnings.push('A limit left out lines of the canary')
  if (otherEvents > 0) {
    warnings.push(`The table of templates was full: ${otherEvents} events were not distinguished`)
  }
  if (timelessLines > 0) {
    warnings.push('Some lines have no time. Bursts among them count in full')
  }
  if (baseline !== undefined && exposure.basis === 'ordinaryLines') {
    const byTime = instanceMinutes(canary) / instanceMinutes(baseline)
    const factor = exposure.canary / exposure.baseline / byTime
    if (byTime > 0 && Number.isFinite(byTime) && Math.max(factor, 1 / factor) > MAX_DISAGREEMENT) {
      warnings.push(
        `The canary logs ${factor.toFixed(1)} times as many ordinary lines per minute as the baseline. Configure the number of requests if this is not its traffic`,
      )
    }
  }
  return warnings
}

const MINUTE_MS = 60_000
/** Shorter silences are pauses. */
const MIN_MINUTES = 3
const MIN_SILENT_SHARE = 0.1
/** Minimum share of minutes with lines on a side for its silence to mean anything. */
const TALKING_SHARE = 0.8
/** Minimum number of expected lines of the canary for their absence not to be chance. */
const MIN_EXPECTED = 10

/**
 * Describes a period in which the canary logged nothing, although its baseline did and the canary
 * had before: a stopped or interrupted stream. Undefined if there is none, or if lines have no
 * times.
 */
export function silenceOf(
  groups: readonly EventGroup[],
  baseline: LogSide | undefined,
  canary: LogSide,
): string | undefined {
  if (baseline === undefined) return undefined
  const minutes = Math.floor(Math.min(...[baseline, canary].map(lengthOf)) / MINUTE_MS)
  const all = perMinute(groups, 'canary', minutes)
  // A canary that is silent from its first minute on may have started later, and may still fall
  // silent.
  const first = Math.max(
    0,
    all.findIndex((count) => count > 0),
  )
  const now = all.slice(first)
  const before = perMinute(groups, 'baseline', minutes).slice(first)
  const { from, to } = longestRun(now, (count) => count === 0)
  const length = to - from
  if (from === 0 || length < Math.max(MIN_MINUTES, minutes * MIN_SILENT_SHARE)) return undefined
  if (!isNoChance(now, before, from, to)) return undefined
  const others = before.slice(from, to)
  const when = to === now.length ? `for the last ${length}` : `for ${length}`
  return `The canary logged nothing ${when} of ${minutes} minutes, from minute ${first + from + 1} on, while the baseline logged ${sum(others)} events. Check whether the canary still runs and its log still arrives`
}

/** Whether a usually active side has no events in these minutes and the other side has. */
function isNoChance(own: readonly number[], other: readonly number[], from: number, to: number): boolean {
  const talking = (counts: readonly number[]): number => counts.filter((count) => count > 0).length
  const rest = [...own.slice(0, from), ...own.slice(to)]
  const length = to - from
  if (talking(rest) < rest.length * TALKING_SHARE) return false
  if (talking(other.slice(from, to)) < length * TALKING_SHARE) return false
  return rest.length > 0 && (sum(rest) / rest.length) * length >= MIN_EXPECTED
}

/**
 * Sides that start later than the other one, and baselines that end before their canary, as
 * sentences: these minutes were compared with nothing, which is not the canary's fault.
 */
export function quietEnds(
  groups: readonly EventGroup[],
  baseline: LogSide | undefined,
  canary: LogSide,
): readonly string[] {
  if (baseline === undefined) return []
  const minutes = Math.floor(Math.min(...[baseline, canary].map(lengthOf)) / MINUTE_MS)
  const least = Math.max(MIN_MINUTES, minutes * MIN_SILENT_SHARE)
  const sides = {
    baseline: perMinute(groups, 'baseline', minutes),
    canary: perMinute(groups, 'canary', minutes),
  }
  const sentences: string[] = []
  for (const [name, other] of [
    ['canary', 'baseline'],
    ['baseline', 'canary'],
  ] as const) {
    const [own, others] = [sides[name], sides[other]]
    const first = own.findIndex((count) => count > 0)
    const end = own.findLastIndex((count) => count > 0) + 1
    if (first >= least && isNoChance(own, others, 0, first))
      sentences.push(
        `The ${name} logged nothing in the first ${first} of ${minutes} minutes, the ${other} ${sum(others.slice(0, first))} events`,
      )
    if (name === 'baseline' && end > 0 && minutes - end >= least && isNoChance(own, others, end, minutes))
      sentences.push(
        `The ${name} logged nothing in the last ${minutes - end} of ${minutes} minutes, the ${other} ${sum(others.slice(end))} events`,
      )
  }
  return sentences
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

/** Minimum share of the baseline's ordinary lines that must be missing for a review. */
const MIN_VANISHED_SHARE = 0.2
const MAX_REPLACED = 0.5
const SURE = 1e-6
const MAX_SHOWN = 80
/** Minimum ratio by exposure for a more frequent ordinary line to be reported. */
const MUCH_MORE = 10
const MIN_EVENTS = 100
const MAX_STORMS = 3

/**
 * Describes lines that the baseline always logs and the canary never does, with little or nothing
 * instead: work that the canary does not receive or no longer does. Undefined if less than a fifth
 * of the lines is missing, or if other ordinary lines replace them.
 */
export function vanishedOf(comparisons: readonly Comparison[], exposure: LogExposure): string | undefined {
  const ordinary = comparisons.filter(({ group }) => group.severity === 'ordinary')
  const all = sumEvents(ordinary, 'baseline')
  const gone = ordinary
    .filter(({ change, pFewer }) => change === 'missing' && pFewer < SURE)
    .toSorted((a, b) => b.group.baseline.events - a.group.baseline.events)
  const missing = sumEvents(gone, 'baseline')
  const odds = exposure.canaryShare / (1 - exposure.canaryShare)
  const instead = sumEvents(
    ordinary.filter(({ change }) => change === 'new'),
    'canary',
  )
  const [first] = gone
  if (first === undefined || missing < all * MIN_VANISHED_SHARE || instead > missing * odds * MAX_REPLACED)
    return undefined
  const others = gone.length > 1 ? ` and ${gone.length - 1} more kinds` : ''
  return `The canary logs nothing like ${shown(first)}${others}, ${Math.round((missing / all) * 100)} % of the ordinary lines of the baseline (${missing}), and ${instead > 0 ? 'little' : 'nothing'} instead. Check whether it does the same work`
}

/** Ordinary lines that are much more frequent, as sentences. They cost no points. */
export function stormsOf(comparisons: readonly Comparison[]): readonly string[] {
  return comparisons
    .filter(({ group, ratioLower, change }) => {
      const isMuchMore = ratioLower > MUCH_MORE && change === 'more'
      return isMuchMore && group.severity === 'ordinary' && group.canary.events >= MIN_EVENTS
    })
    .toSorted((a, b) => b.ratioLower - a.ratioLower)
    .slice(0, MAX_STORMS)
    .map(
      (storm) =>
        `The canary logs ${shown(storm)} at least ${Math.floor(storm.ratioLower)} times as often by exposure: ${storm.group.canary.events}, ${storm.group.baseline.events} in the baseline`,
    )
}

function sumEvents(comparisons: readonly Comparison[], side: 'baseline' | 'canary'): number {
  return comparisons.reduce((all, { group }) => all + group[side].events, 0)
}

function shown({ group }: Comparison): string {
  const { text } = group.template
  return `"${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}"`
}
