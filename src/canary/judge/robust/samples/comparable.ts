import { short } from '../../../../lib/text/number-text.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import type { MetricSeries } from '../../series/types.js'
import { kindOfValues } from './kind-of-values.js'
import type { CleanSides } from './metric-tests.js'

/** Ratio of levels from which both sides measure different things or use different units. */
const OTHER_SCALE = 100
/**
 * Ratio for metrics that fail anyway, lower than `OTHER_SCALE`: a percentage and a share that
 * differ a little are not exactly 100 times apart, nor are minutes and seconds.
 */
export const LIKELY_OTHER_SCALE = 50
/** Fewer points that only rise may be chance. */
const MIN_RISING = 10
/** Minimum share of rising steps of a counter. At other steps it is constant or resets. */
const RISING_SHARE = 0.5
const MAX_RESETS = 0.1
/** Levels that are alike say the same of counters too. */
const ALIKE = 0.05
/** Minimum number of values other than 0 that show what a side counts in. */
const MIN_COUNTED = 2

/**
 * Reason why the levels of both sides cannot be compared: they differ by the factor `scale` or
 * more. Undefined if they can be compared.
 */
export function notComparable(
  { spec }: Pick<MetricSeries, 'spec'>,
  sides: CleanSides,
  scale = OTHER_SCALE,
): string | undefined {
  if (kindOfValues(sides, spec.kind) !== 'gauge') return undefined
  const { experiment: x, control: y } = sides
  const ratio = sortedQuantile(x.sorted, 0.5) / sortedQuantile(y.sorted, 0.5)
  const isBelow = ratio > 0 && ratio * scale <= 1 && (x.sorted.at(-1) ?? 0) < (y.sorted[0] ?? 0)
  const isAbove = Number.isFinite(ratio) && ratio >= scale && (x.sorted[0] ?? 0) > (y.sorted.at(-1) ?? 0)
  if (!isBelow && !isAbove) return undefined
  const times = isAbove ? `${short(ratio)} times the` : `1/${short(1 / ratio)} of the`
  return `The typical value of the canary is ${times} baseline's, and no value of one side is near any of the other. Check whether both sides measure the same thing in the same unit`
}

/**
 * Reason why two sides that are mostly 0 do not count the same thing: the baseline has whole
 * numbers, the canary mostly parts of them. Events are whole, so its query averages or divides them.
 * A canary with few requests has whole shares of errors, so the reverse says nothing. Undefined if
 * both count alike, or too little is known.
 */
export function countedOtherwise(
  { spec }: Pick<MetricSeries, 'spec'>,
  sides: CleanSides,
): string | undefined {
  if (kindOfValues(sides, spec.kind) !== 'zeroInflated') return undefined
  const [y, x] = [sides.control, sides.experiment].map(({ values }) => values.filter((value) => value !== 0))
  if (x === undefined || y === undefined || y.length < MIN_COUNTED || !y.every(Number.isInteger))
    return undefined
  const parts = x.filter((value) => !Number.isInteger(value)).length
  if (parts < MIN_COUNTED || 2 * parts <= x.length) return undefined
  return `All values of the baseline are whole numbers, but ${parts} of the ${x.length} values of the canary that are not 0 are not. Check whether both sides count the same thing in the same unit`
}

/**
 * Reason why two counters cannot be compared, whatever a test finds. `isUnlike`: whether their
 * levels differ too. Undefined if a side is not a counter.
 */
export function countersOf(
  sides: CleanSides,
): { readonly says: string; readonly isUnlike: boolean } | undefined {
  const { control, experiment } = sides
  if (!isCounter(control.values) || !isCounter(experiment.values)) return undefined
  const [x = 0, y = 0] = [experiment, control].map(({ sorted }) => sortedQuantile(sorted, 0.5))
  return {
    isUnlike: Math.abs(x - y) > ALIKE * y,
    says: 'Both sides only rise, as counters do, so their values show how long they have counted. Query the rate',
  }
}

/** Whether these are whole numbers that only rise, except for resets. */
function isCounter(known: Float64Array): boolean {
  if (known.length < MIN_RISING || !known.every(Number.isInteger)) return false
  let [rises, falls] = [0, 0]
  for (let place = 1; place < known.length; place += 1) {
    const step = (known[place] ?? 0) - (known[place - 1] ?? 0)
    if (step > 0) rises += 1
    if (step < 0) falls += 1
  }
  const steps = known.length - 1
  return rises >= steps * RISING_SHARE && falls <= steps * MAX_RESETS
}
