import { percent, short } from '../../../lib/text/number-text.js'
import { sortedQuantile } from '../../statistics/quantile.js'
import type { MetricSpec } from '../series/types.js'
import { dependence, NO_CHANCE } from './samples/autocorrelation.js'
import { baselineLevel } from './samples/baseline-level.js'
import { endOf } from './samples/clean-side.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { marginsOf, ROUNDING } from './samples/margins.js'
import type { Margins } from './samples/margins.js'
import { harmfulSigns } from './samples/metric-tests.js'
import type { CleanSides } from './samples/metric-tests.js'
import type { RobustSettings } from './samples/settings.js'
import { PLAIN_START } from './tests/stretch-outcomes.js'
import { naturalBound } from './tests/test-distance.js'

/** Points of the canary beyond all of its baseline. */
export interface FarPoints {
  readonly says: string
  /** Whether they need a review. Otherwise they are a note. */
  readonly needsReview: boolean
}

/** Minimum number of points for a review. Fewer are a note. */
const MIN_POINTS = 3
/** The chance of as many points as far out, in heavy-tailed values without a change. */
const REVIEW_ERROR = 0.02
const NOTE_ERROR = 0.05
/** Points nearer to the baseline's median than this number of margins do not matter. */
const MIN_MARGINS = 2
/** The margin of values near a bound that they cannot exceed, as a share of the bound. */
const BOUND_MARGIN = 0.005
/**
 * Minimum distance of a far point from the median, in the baseline's largest distance.
 */
const MIN_RATIO = 1.25 * ROUNDING
/** The longest start that counts as a warm-up, as a share of the window. */
const WARM_UP_SHARE = 0.2
/** Maximum distance, in standard deviations, that is usual between units or former runs. */
const USUAL_DEVIATIONS = 3

/**
 * Points of the canary that lie beyond all of the baseline. Without a change, the k furthest points
 * of both sides all belong to the canary with a chance of (n / (n + m))^k, whatever the
 * distribution is (Rosenbaum 1954). If a point is r times as far from the median as any of the
 * baseline, n counts 1/r: the tail is assumed to be as heavy as a Pareto distribution's with index 1,
 * in which the mean no longer exists. So more points and points further out always mean less
 * chance. Dependence in time divides k, but never below that of three points. Undefined if they may
 * be chance.
 */
export function farPointsOf(
  spec: MetricSpec,
  sides: CleanSides,
  settings: RobustSettings,
  betweenUnits: number,
): FarPoints | undefined {
  const { control, experiment } = sides
  if (kindOfValues(sides, spec.kind) === 'count') return undefined
  const level = baselineLevel(control.sorted)
  const bound = naturalBound(sides, spec)
  const usual = marginsOf(spec, settings)
  const isOwn = spec.margin !== undefined || usual.decrease !== settings.margin
  const margins = bound === undefined || isOwn ? usual : atBound(bound / level)
  const median = sortedQuantile(control.sorted, 0.5)
  const { inflation } = dependence([control.scores], NO_CHANCE)
  for (const sign of harmfulSigns(spec.direction)) {
    const end = (sign > 0 ? control.sorted.at(-1) : control.sorted[0]) ?? median
    const margin = MIN_MARGINS * (sign > 0 ? margins.increase : margins.decrease) * level
    const reach = Math.max(sign * (end - median) + USUAL_DEVIATIONS * betweenUnits, margin)
    const start = warmUpPoints(sides, sign, end, level)
    const distances = experiment.values
      .subarray(start)
      .map((value) => sign * (value - median))
      .filter((distance) => distance > MIN_RATIO * reach)
      .sort()
      .reverse()
    const { p, points } = leastChance(distances, reach, control.values.length, inflation, {
      of: experiment.values.length,
    })
    if (p > NOTE_ERROR) continue
    const needsReview = points >= MIN_POINTS && p <= REVIEW_ERROR
    const typical = median + sign * sortedQuantile(distances.toSorted(), 0.5)
    return { needsReview, says: describe({ points: distances.length, sign, typical, end, level }) }
  }
  return undefined
}

/** Near a bound, such as 100 % of successes, a smaller shortfall matters than at other levels. */
function atBound(boundInLevels: number): Margins {
  const margin = BOUND_MARGIN * boundInLevels
  return { increase: margin, decrease: margin }
}

/** The least chance over the furthest point, the two furthest, and so on. */
function leastChance(
  distances: Float64Array,
  reach: number,
  baseline: number,
  inflation: number,
  { of: canary }: { readonly of: number },
): { readonly p: number; readonly points: number } {
  let best = { p: 1, points: 0 }
  distances.forEach((distance, index) => {
    const points = index + 1
    const counted = (canary * reach) / distance
    const exponent = Math.max(Math.min(points, MIN_POINTS), points / inflation)
    const p = (counted / (counted + baseline)) ** exponent
    if (p <= best.p) best = { p, points }
  })
  return best
}

/** The number of points of a start beyond the baseline that is short or low enough for a warm-up. */
function warmUpPoints({ control, experiment }: CleanSides, sign: 1 | -1, end: number, level: number): number {
  const within = experiment.values.findIndex((value) => sign * (value - end) <= 0)
  const first = experiment.values.subarray(0, Math.max(0, within))
  const points = experiment.places[within] ?? 0
  if (first.length < MIN_POINTS || points > WARM_UP_SHARE * Math.max(endOf(control), endOf(experiment)))
    return 0
  const mean = first.reduce((sum, value) => sum + value / first.length, 0)
  const isPlain = first.length >= PLAIN_START.points && mean >= (1 + PLAIN_START.change) * level
  return isPlain ? 0 : first.length
}

interface Described {
  readonly points: number
  readonly sign: 1 | -1
  readonly typical: number
  readonly end: number
  readonly level: number
}

function describe({ points, sign, typical, end, level }: Described): string {
  const isOne = points === 1
  const share = level > 0 ? ` (${percent(typical / level - 1)} of the baseline's typical value)` : ''
  const side = sign > 0 ? `above the baseline's highest value of` : `below the baseline's lowest value of`
  const those = isOne ? 'One point of the canary is' : `${points} points of the canary are`
  return `${those} far ${side} ${short(end)}: ${isOne ? '' : 'typically '}${short(typical)}${share}. Check ${isOne ? 'this point' : 'these points'}`
}
