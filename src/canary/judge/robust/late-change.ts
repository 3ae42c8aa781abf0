import { chance, percent } from '../../../lib/text/number-text.js'
import { normalUpperTail } from '../../statistics/normal.js'
import { sortedQuantile } from '../../statistics/quantile.js'
import { rankShift } from '../../statistics/rank-sum-tail.js'
import { smirnovTail } from '../../statistics/smirnov.js'
import type { MetricSpec } from '../series/types.js'
import type { NoData } from './find-no-data.js'
import { dependence, NO_CHANCE } from './samples/autocorrelation.js'
import { baselineLevel } from './samples/baseline-level.js'
import { endOf } from './samples/clean-side.js'
import type { CleanSide } from './samples/clean-side.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { farFrom, marginsOf } from './samples/margins.js'
import { harmfulSigns } from './samples/metric-tests.js'
import type { CleanSides } from './samples/metric-tests.js'
import type { RobustSettings } from './samples/settings.js'
import { pointsOf, whenOf } from './samples/when.js'

/** The compared ends of the window, as shares of it. */
const SHARES: readonly number[] = [1, 1 / 2, 1 / 3, 1 / 4]
const MIN_POINTS = 10
/**
 * The error of each test, and that of falls if rises are harm too. Only a review follows from it, and
 * only for changes that anybody sees.
 */
const ERROR = 0.04
const ERROR_OF_FALLS = 0.005
/** Minimum change, in least changes that are far past the margin. */
const MIN_FAR = 2
/** Share of the change that must remain if the same stretch of the baseline is compared. */
const OWN_SHARE = 0.5
/** Standard errors added to the baseline's autocorrelation. */
const CAUTION_ERRORS = 1.3

/**
 * An end of the window, or all of it, in which the canary's values are plainly higher or lower than
 * those of the baseline, although that is not proven: the search for stretches pays for each of a
 * hundred, and values of two kinds hide a change from the typical value. Tests the order of the
 * values (Mann-Whitney) and their distribution (Smirnov). A change that the baseline shows at the
 * same time is not the canary's. Undefined without one.
 */
export function lateChangeOf(
  spec: MetricSpec,
  sides: CleanSides,
  settings: RobustSettings,
): NoData | undefined {
  const { control, experiment } = sides
  if (kindOfValues(sides, spec.kind) !== 'gauge') return undefined
  const { direction } = spec
  const margins = marginsOf(spec, settings)
  const mean = meanOf(control.values)
  const typical = baselineLevel(control.sorted)
  const level = Math.max(typical, Math.abs(mean))
  const points = Math.max(endOf(control), endOf(experiment))
  const { inflation } = dependence([control.scores], NO_CHANCE, CAUTION_ERRORS)
  for (const share of SHARES) {
    const from = Math.ceil((1 - share) * points)
    const [now, then] = [valuesFrom(experiment, from), valuesFrom(control, from)]
    if (Math.min(now.length, then.length) < MIN_POINTS) continue
    for (const sign of harmfulSigns(direction)) {
      const margin = sign > 0 ? margins.increase : margins.decrease
      const { mean: ofMean, median, largest } = changeOf(now, control.sorted, sign)
      if (largest < MIN_FAR * farFrom(margin * level, level)) continue
      if (changeOf(now, then, sign).largest < OWN_SHARE * largest) continue
      const p = leastChance(now, control.sorted, sign, inflation)
      if (p > (sign < 0 && direction === 'either' ? ERROR_OF_FALLS : ERROR)) continue
      const where =
        share === 1
          ? 'The values of the canary are'
          : `From ${whenOf(experiment, pointsOf(experiment, from, points), true)} the values of the canary are`
      const byMean = percent((sign * ofMean) / (Math.abs(mean) || level))
      const byMedian = percent((sign * median) / (typical || level))
      const by = `the mean changed by ${byMean} of the baseline's, the typical value by ${byMedian}`
      const reason = `${where} ${sign > 0 ? 'higher' : 'lower'}: ${by} (${chance(p)}). No test proves a change. Check these values`
      return { state: 'doubtful', reason }
    }
  }
  return undefined
}

function leastChance(now: Float64Array, before: Float64Array, sign: 1 | -1, inflation: number): number {
  const { above, below } = rankShift(now, before)
  const byOrder = normalUpperTail((sign > 0 ? above : below) / Math.sqrt(inflation))
  const [upper, lower] = sign > 0 ? [now, before] : [before, now]
  return Math.min(byOrder, smirnovTail(upper, lower, inflation))
}

/** The changes in a direction, in the metric's unit. Both samples in ascending order. */
function changeOf(
  now: Float64Array,
  before: Float64Array,
  sign: 1 | -1,
): { readonly mean: number; readonly median: number; readonly largest: number } {
  const mean = sign * (meanOf(now) - meanOf(before))
  const median = sign * (sortedQuantile(now, 0.5) - sortedQuantile(before, 0.5))
  return { mean, median, largest: Math.max(mean, median) }
}

/** The values from a place on, in ascending order. */
function valuesFrom({ values, places }: CleanSide, from: number): Float64Array {
  return values.filter((_, index) => (places[index] ?? 0) >= from).sort()
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
