import { sortedQuantile } from '../../../statistics/quantile.js'
import type { MetricSeries } from '../../series/types.js'
import { kindOfValues } from './kind-of-values.js'
import type { CleanSides } from './metric-tests.js'

/** Logarithms of the factors between units: milli, micro, nano. */
const UNIT_POWERS = [3, 6, 9]
/** How near a factor of units is, as a logarithm: a quarter more or less. */
const NEARNESS = 0.1
/** Fewer points that only rise may be chance. */
const LEAST_RISING = 10
/** So many of the steps of a counter rise; the rest stand, or begin again. */
const RISING_SHARE = 0.5
const MOST_RESETS = 0.1
/** Levels that are alike say the same of counters too. */
const ALIKE = 0.05

/** Why the levels of both sides cannot be compared, where nobody would see a harm in their difference; undefined where they can. */
export function notComparable(
  { spec, control, experiment }: MetricSeries,
  sides: CleanSides,
): string | undefined {
  if (kindOfValues(sides, spec.kind) !== 'gauge') return undefined
  const [x, y] = [sides.experiment, sides.control].map(({ sorted }) => sortedQuantile(sorted, 0.5))
  if (x === undefined || y === undefined || !(x > 0) || !(y > 0)) return undefined
  const power = Math.abs(Math.log10(x / y))
  const isOtherUnit = UNIT_POWERS.some((unit) => Math.abs(power - unit) < NEARNESS)
  if (isOtherUnit) {
    return `the values of the canary are ${x < y ? 'a thousandth of' : 'a thousand times'} those of the baseline, or as near to another unit: see whether both sides measure the same`
  }
  if (Math.abs(x / y - 1) <= ALIKE || !isCounter(control.values) || !isCounter(experiment.values))
    return undefined
  return 'both sides only rise, as counters do, so that their values say how long they have counted: ask for the rate'
}

/** Whole numbers that only rise, but where they begin again. */
function isCounter(values: Float64Array): boolean {
  const known = values.filter((value) => !Number.isNaN(value))
  if (known.length < LEAST_RISING || !known.every(Number.isInteger)) return false
  let [rises, falls] = [0, 0]
  for (let place = 1; place < known.length; place += 1) {
    const step = (known[place] ?? 0) - (known[place - 1] ?? 0)
    if (step > 0) rises += 1
    if (step < 0) falls += 1
  }
  const steps = known.length - 1
  return rises >= steps * RISING_SHARE && falls <= steps * MOST_RESETS
}
