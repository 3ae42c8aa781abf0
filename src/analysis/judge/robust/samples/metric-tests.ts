import type { Direction, Finding, TestOutcome } from '../../series/types.js'
import { describeSeries } from '../../series/describe-series.js'
import type { CleanSide } from './clean-side.js'

/** Per cent from here on have three digits that say something. */
const LARGE = 1000
const TO_THREE_DIGITS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

/** Both sides of a metric, cleaned. */
export interface CleanSides {
  readonly control: CleanSide
  readonly experiment: CleanSide
}

/** What the tests of one metric found, before other metrics are considered. */
export type Tested = Omit<Finding, 'p' | 'pAdjusted'>

/** Which ways a change is harm: up (1), down (-1). */
export function harmfulSigns(direction: Direction): readonly (1 | -1)[] {
  return ([1, -1] as const).filter((sign) => direction !== (sign > 0 ? 'decrease' : 'increase'))
}

/** A p-value for its share of the error: 1 when it has none. */
export function weighted(p: number, share: number): number {
  return share > 0 ? Math.min(1, p / share) : 1
}

/** The tests that found a change that matters, surest first. */
export function mattering(tests: readonly TestOutcome[]): TestOutcome[] {
  return tests.filter(({ matters }) => matters).sort((a, b) => a.p - b.p)
}

/** A share without a sign, to two digits: 2.7 %, 0.078 %. */
export function precisePercent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`
}

/** A share as people write it: +12.5 %. */
export function percent(share: number): string {
  const value = share * 100
  if (Math.abs(value) >= LARGE) return `${value > 0 ? '+' : ''}${TO_THREE_DIGITS.format(value)} %`
  const digits = Math.abs(value) < 10 ? 1 : 0
  const shown = value.toFixed(digits)
  // What is rounded to nothing has no sign.
  if (Number(shown) === 0) return `${shown.replace('-', '')} %`
  return `${value > 0 ? '+' : ''}${shown} %`
}

/** A number to three digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3)))
}

/** Mean of the experiment by mean of the control; null where it has no value. */
export function meanRatio({ control, experiment }: CleanSides): number | null {
  const ratio = describeSeries(experiment.values).mean / describeSeries(control.values).mean
  return Number.isFinite(ratio) ? ratio : null
}
