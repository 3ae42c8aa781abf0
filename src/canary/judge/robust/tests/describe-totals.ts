import { precisePercent, toThreeDigits } from '../../../../lib/text/number-text.js'
import type { MetricSpec } from '../../series/types.js'
import type { CleanSide } from '../samples/clean-side.js'
import type { CleanSides } from '../samples/metric-tests.js'
import { totalOf } from './total-events.js'

/** Metric names that can be printed as a unit, such as `requests`. A query cannot. */
const WORDS = /^[\p{L}][\p{L}\d _-]{0,30}$/u

/**
 * The number of events on both sides: `1,400 events in 52,000 requests, 40 in 51,000 in the
 * baseline: 2.7 % against 0.078 %`. Without an exposure, the numbers of points are given if they
 * differ.
 */
export function describeTotals(
  { control, experiment }: CleanSides,
  { exposure }: Pick<MetricSpec, 'exposure'>,
): string {
  const [x, y] = [totalOf(experiment), totalOf(control)]
  const [events, others] = [amountOf(x.events), amountOf(y.events)]
  const noun = x.events === 1 ? 'event' : 'events'
  if (!control.hasExposure || !experiment.hasExposure) {
    const [n, m] = [pointsOf(experiment), pointsOf(control)]
    return n === m
      ? `${events} ${noun}, ${others} in the baseline`
      : `${events} ${noun} in ${n} points, ${others} in ${m} in the baseline`
  }
  const unit = exposure !== undefined && WORDS.test(exposure) ? ` ${exposure}` : ''
  const rates = [x.events / x.exposure, y.events / y.exposure]
  const [rate = '', other = ''] = rates.map(Math.max(...rates) > 1 ? amountOf : precisePercent)
  const suffix = Math.max(...rates) > 1 ? ' each' : ''
  return `${events} ${noun} in ${amountOf(x.exposure)}${unit}, ${others} in ${amountOf(y.exposure)} in the baseline: ${rate} against ${other}${suffix}`
}

function pointsOf({ values }: CleanSide): number {
  return values.length
}

/**
 * Formats whole numbers with separators (`1,400`), fractions with three digits, and numbers above
 * 2^53 - 1, which are no longer exact, in scientific notation (`1.23e17`).
 */
function amountOf(amount: number): string {
  if (Math.abs(amount) > Number.MAX_SAFE_INTEGER) return amount.toExponential(2).replace('e+', 'e')
  return Number.isInteger(amount) ? amount.toLocaleString('en-US') : toThreeDigits(amount)
}
