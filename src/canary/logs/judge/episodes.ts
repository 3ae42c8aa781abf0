import { binomialUpperTail } from '../../statistics/binomial.js'
import type { LogExposure, LogSide } from '../model/types.js'
import type { EventGroup, SideEvents } from './side-events.js'

const MINUTE_MS = 60_000
/** Maximum length of a start, as a share of the window and in minutes. */
const START_SHARE = 1 / 4
const LONGEST_START = 15
/**
 * Minimum share of the expected ordinary lines after the start for the canary to count as serving.
 */
const MIN_SERVED = 1 / 2
const CHANCE = 0.1
const MAX_TIMES = 1.25
/**
 * Minimum time from the start of an episode to the end of the window, in lengths of the episode.
 */
const MIN_LENGTHS = 1.5
/** Maximum share of an episode's events outside of it. */
const MAX_LEFT_SHARE = 0.05

/**
 * The minute at which the start of a canary is over. Undefined in short windows, and if the canary
 * afterwards logs fewer ordinary lines than its traffic suggests: errors that end because the
 * traffic ended are not over.
 */
export function startEndOf(
  groups: readonly EventGroup[],
  exposure: LogExposure,
  canary: LogSide,
): number | undefined {
  const minutes = minutesOf(canary)
  const end = Math.min(LONGEST_START, Math.floor(minutes * START_SHARE))
  if (end < 1) return undefined
  const common = groups.filter(
    ({ severity, ...sides }) =>
      severity === 'ordinary' && Math.min(sides.baseline.events, sides.canary.events) > 0,
  )
  const count = (side: 'baseline' | 'canary', from: number): number =>
    common.reduce((sum, group) => sum + eventsFrom(group[side], from), 0)
  const [before, now] = [count('baseline', end), count('canary', end)]
  // Lines of a single moment, or of a canary that stopped, do not show what followed.
  if (common.length > 0 && now === 0) return undefined
  const early = (count('canary', 0) - now) / Math.max(1, count('baseline', 0) - before)
  const odds = Math.max(early, exposure.canaryShare / (1 - exposure.canaryShare))
  return now >= before * odds * MIN_SERVED ? end : undefined
}

/** Number of minutes of a window, rounded up. */
export function minutesOf({ startMs, endMs }: LogSide): number {
  return Math.ceil((endMs - startMs) / MINUTE_MS)
}

/** A run of minutes of the window: from `from` up to, but not including, `to`. */
export interface Episode {
  readonly from: number
  readonly to: number
}

/**
 * The first run of `length` minutes that contains all events of the canary that the baseline does
 * not explain, and that ended at least half that length before the end of the window. Undefined if
 * there is none.
 */
export function episodeOf(
  length: number,
  { baseline, canary, severity }: EventGroup,
  { canaryShare }: Pick<LogExposure, 'canaryShare'>,
  minutes: number,
): Episode | undefined {
  const [now, before] = [canary, baseline].map((side) => sumsOf(side, minutes))
  const all = now?.at(-1) ?? 0
  // Events without a time may have come in any minute.
  if (now === undefined || before === undefined || all < canary.events) return undefined
  const outside = (sums: readonly number[], from: number): number =>
    (sums.at(-1) ?? 0) - (sums[from + length] ?? 0) + (sums[from] ?? 0)
  const odds = canaryShare / (1 - canaryShare)
  for (let from = 0; from + length * MIN_LENGTHS <= minutes; from += 1) {
    const [left, others] = [outside(now, from), outside(before, from)]
    // A critical event that occurs even once more is not over.
    const forgiven = severity === 'critical' ? 0 : Math.max(1, (all - left) * MAX_LEFT_SHARE)
    if (left > others * odds * MAX_TIMES + forgiven) continue
    const isChance = others === 0 || binomialUpperTail(left, left + others, canaryShare) > CHANCE
    if (isChance) return { from, to: from + length }
  }
  return undefined
}

/** The number of events before each minute, and the total at the end. */
function sumsOf({ byMinute }: SideEvents, minutes: number): readonly number[] {
  const sums = [0]
  for (let minute = 0; minute < minutes; minute += 1)
    sums.push((sums[minute] ?? 0) + (byMinute.get(minute) ?? 0))
  return sums
}

function eventsFrom({ byMinute }: SideEvents, from: number): number {
  let sum = 0
  for (const [minute, events] of byMinute) if (minute >= from) sum += events
  return sum
}
