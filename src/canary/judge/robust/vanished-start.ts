import { chance } from '../../../lib/text/figures.js'
import { frontShifts } from '../../statistics/front-shifts.js'
import type { MetricSpec, TestOutcome } from '../series/types.js'
import type { NoData } from './find-no-data.js'
import { stuckOf } from './stuck.js'
import { cleanPoints, endOf } from './samples/clean-side.js'
import type { CleanSide } from './samples/clean-side.js'
import { isMostlyZero } from './samples/kind-of-values.js'
import { mattering } from './samples/metric-tests.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'

/** No start that a warm-up takes is longer, as a share of the window. */
const START_SHARE = 0.3
/** What goes on for longer than a start is looked for so many times as far: its beginning alone must not pass for one. */
const SEARCHED = 2
const LEAST_POINTS = 3
/** So many points of each side must be left to say that nothing is left of a change. */
const LEAST_REST = 12
/** The normal score from which on a start stands out among the canary's own values (an error of 0.0013). */
const START_SCORE = 3
/** What the rest shows at this error is left of a change, though it would not be found. */
const REST_ALPHA = 0.05

/** One value for long is no narrower spread but no measurement. Undefined where that is not what was found. */
export function stuckInstead(sides: CleanSides, { tests, alpha }: Tested): NoData | undefined {
  const [found] = mattering(tests)
  if (found?.test !== 'spread' || found.p > alpha) return undefined
  const reason = stuckOf(sides)
  return reason === undefined ? undefined : { state: 'doubtful', reason }
}

/**
 * Why a change that was found in the whole window is for people to say: only the start of the canary has it, as while caches fill or a queue drains,
 * and what comes after is like the baseline. Undefined where it is not so, and for events that somebody declared or gave an exposure, or that are rare:
 * what failed at the start has failed. `test` is what found the change.
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
  // What fades is still there behind the points that stand out most.
  const back = Math.min(longest, 2 * start)
  const rest = { control: from(sides.control, back), experiment: from(sides.experiment, back) }
  if (Math.min(rest.control.values.length, rest.experiment.values.length) < LEAST_REST) return undefined
  if (mattering(test(rest).tests).some(({ p }) => p <= REST_ALPHA)) return undefined
  return {
    state: 'doubtful',
    reason: `${found.says} (${chance(found.p)}), but the first ${start} points show it, as those of a warm-up do, and from point ${back + 1} on the canary is like its baseline: see what it was; warmUpMinutes leaves a start out`,
  }
}

/** How many points at the start stand out most among the canary's own; undefined where none do, or more than a start may have. */
function startOf(
  { values, places }: CleanSide,
  { change }: TestOutcome,
  longest: number,
): number | undefined {
  let best: { readonly points: number; readonly score: number } | undefined
  const searched = SEARCHED * longest
  const shifts = frontShifts(values, searched)
  let behind = 0
  for (let points = LEAST_POINTS; points <= searched; points += 1) {
    while (behind < places.length && (places[behind] ?? 0) < points) behind += 1
    if (behind < LEAST_POINTS || behind === places.length) continue
    const shift = shifts[behind - 1]
    const score = (change === 'High' ? shift?.above : shift?.below) ?? 0
    if (score > (best?.score ?? START_SCORE)) best = { points, score }
  }
  return best !== undefined && best.points <= longest ? best.points : undefined
}

function from({ values, places, exposure, hasExposure }: CleanSide, start: number): CleanSide {
  const behind = places.findIndex((place) => place >= start)
  const first = behind < 0 ? places.length : behind
  return cleanPoints({
    values: values.slice(first),
    places: places.slice(first),
    exposure: exposure.slice(first),
    hasExposure,
  })
}
