import { chance, short } from '../../../lib/text/number-text.js'
import type { MetricSpec, TestOutcome } from '../series/types.js'
import type { NoData } from './find-no-data.js'
import { cleanPoints, endOf } from './samples/clean-side.js'
import type { CleanSide } from './samples/clean-side.js'
import { pointsOf, whenOf } from './samples/when.js'
import { isMostlyZero } from './samples/kind-of-values.js'
import { mattering } from './samples/metric-tests.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { EXACT_UP_TO, normalShift, rankShift } from '../../statistics/rank-sum-tail.js'
import type { RankShift } from '../../statistics/rank-sum-tail.js'
import { walkTies } from '../../statistics/walk-ties.js'

/** No start that a warm-up takes is longer, as a share of the window. */
const START_SHARE = 0.3
/**
 * Range of the search, in lengths of the longest start. The beginning of a longer change must not
 * count as a start.
 */
const SEARCHED = 2
const MIN_POINTS = 3
/** Minimum number of points left on each side to state that no change is left. */
const MIN_REST = 12
/** Minimum normal score of a start among the canary's own values (an error of 0.0013). */
const START_SCORE = 3
/** Error at which the rest still shows a change, even if it would not be found. */
const REST_ALPHA = 0.05

/**
 * Reason for a review of a change that only the start of the canary shows, as while caches fill or
 * a queue drains, if the rest is like the baseline. Undefined otherwise, and for events that are
 * declared, have an exposure or are rare: a failure at the start is a failure. `test` is the test
 * that found the change.
 */
export function vanishedStart(
  sides: CleanSides,
  { kind }: MetricSpec,
  { tests, alpha }: Tested,
  test: (sides: CleanSides) => Tested,
): NoData | undefined {
  const [found] = mattering(tests)
  const isOfEvents = kind === 'count' || sides.experiment.hasExposure || isMostlyZero(sides.control)
  if (found === undefined || found.p > alpha || isOfEvents) return undefined
  const longest = Math.floor(START_SHARE * endOf(sides.experiment))
  const start = startOf(sides.experiment, found, longest)
  if (start === undefined) return undefined
  // A fading change continues after the points that differ most.
  const back = Math.min(longest, 2 * start)
  const rest = { control: from(sides.control, back), experiment: from(sides.experiment, back) }
  if (Math.min(rest.control.values.length, rest.experiment.values.length) < MIN_REST) return undefined
  if (mattering(test(rest).tests).some(({ p }) => p <= REST_ALPHA)) return undefined
  return {
    state: 'doubtful',
    reason: `${found.says} (${chance(found.p)}). Only the start shows it, from ${whenOf(sides.experiment, pointsOf(sides.experiment, 0, start), false)}, as in a warm-up; the canary is like its baseline from ${whenOf(sides.experiment, pointsOf(sides.experiment, back, back + 1), true)}. Check the cause, or set warmUpMinutes to leave the start out`,
  }
}

/**
 * The number of points at the start that differ most from the canary's other values. Undefined if
 * none do, or if there are more than a start may have.
 */
function startOf(
  { values, places }: CleanSide,
  { change }: TestOutcome,
  longest: number,
): number | undefined {
  let best: { readonly points: number; readonly score: number } | undefined
  const searched = SEARCHED * longest
  const shifts = frontShifts(values, searched)
  let after = 0
  for (let points = MIN_POINTS; points <= searched; points += 1) {
    while (after < places.length && (places[after] ?? 0) < points) after += 1
    if (after < MIN_POINTS || after === places.length) continue
    const shift = shifts[after - 1]
    const score = (change === 'High' ? shift?.above : shift?.below) ?? 0
    if (score > (best?.score ?? START_SCORE)) best = { points, score }
  }
  return best !== undefined && best.points <= longest ? best.points : undefined
}

function from({ values, places, exposure, hasExposure }: CleanSide, start: number): CleanSide {
  const after = places.findIndex((place) => place >= start)
  const first = after < 0 ? places.length : after
  return cleanPoints({
    values: values.slice(first),
    places: places.slice(first),
    exposure: exposure.slice(first),
    hasExposure,
  })
}

/** By the normal distribution; what is nearer to nothing is never far by the exact one. */
const WORTH_COUNTING = 2
const NONE = new Float64Array()

/**
 * The distance of the first values of a series above and below the later ones, as in `rankShift`:
 * for the first value, the first two, up to `most`. Small samples are enumerated if they may be far
 * apart. All values are ranked once.
 */
export function frontShifts(values: Float64Array, most: number): readonly RankShift[] {
  const { rankOf, ties } = ranksOf(values)
  let sum = 0
  return Array.from(values.subarray(0, most), (value, at) => {
    sum += rankOf.get(value) ?? 0
    const count = at + 1
    const shift = normalShift({ sum, ties }, count, values.length - count)
    const isPlain = Math.max(shift.above, shift.below) < WORTH_COUNTING
    return values.length > EXACT_UP_TO || isPlain
      ? shift
      : rankShift(values.slice(0, count).sort(), values.slice(count).sort())
  })
}

/**
 * The rank of each value among all (equal values share it), and the sum of T^3 - T over the groups
 * of T equal values.
 */
function ranksOf(values: Float64Array): {
  readonly rankOf: ReadonlyMap<number, number>
  readonly ties: number
} {
  const sorted = values.toSorted()
  const rankOf = new Map<number, number>()
  let ties = 0
  walkTies(sorted, NONE, 0, (before, equal) => {
    rankOf.set(sorted[before] ?? 0, before + (equal + 1) / 2)
    ties += equal ** 3 - equal
  })
  return { rankOf, ties }
}

/**
 * Minimum number of equal points at the end, and their minimum share of all, that is not chance in
 * values that change from point to point.
 */
const STUCK_POINTS = 10
const STUCK_SHARE = 0.2
/** Minimum share of changing steps of the baseline during that time. */
const CHANGING_SHARE = 0.9

/**
 * The stretch at the end in which the canary has one value while its baseline changes from point to
 * point, as a sentence: a lost measurement repeats its last value. Undefined if there is none, or
 * if the value is outside the baseline's range, which is a change.
 */
export function stuckOf({ control, experiment }: CleanSides): string | undefined {
  const { values, places } = experiment
  const last = values.at(-1)
  const before = values.findLastIndex((value) => value !== last)
  const points = values.length - 1 - before
  // A fall to 0 has its own reason.
  if (last === 0 || last === undefined || points < Math.max(STUCK_POINTS, STUCK_SHARE * endOf(experiment)))
    return undefined
  const { sorted } = control
  if (last < (sorted[0] ?? last) || last > (sorted.at(-1) ?? last)) return undefined
  const during = control.values.filter((_, at) => (control.places[at] ?? 0) >= (places[before + 1] ?? 0))
  const changes = during.filter((value, at) => at > 0 && value !== during[at - 1]).length
  if (during.length < STUCK_POINTS || changes < CHANGING_SHARE * (during.length - 1)) return undefined
  return `The last ${points} points of the canary all have the value ${short(last)}, while the baseline changes. Check whether the canary is still measured`
}
