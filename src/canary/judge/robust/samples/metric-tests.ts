import type { Direction, Finding, TestOutcome } from '../../series/types.js'
import { describeSeries } from '../../series/describe-series.js'
import type { CleanSide } from './clean-side.js'

/** Both sides of a metric, cleaned. */
export interface CleanSides {
  readonly control: CleanSide
  readonly experiment: CleanSide
}

/** The test results of one metric, before other metrics are considered. */
export type Tested = Omit<Finding, 'p' | 'pAdjusted'>

/** Which ways a change is harm: up (1), down (-1). */
export function harmfulSigns(direction: Direction): readonly (1 | -1)[] {
  return ([1, -1] as const).filter((sign) => direction !== (sign > 0 ? 'decrease' : 'increase'))
}

/** A p-value divided by its share of the error; 1 if the share is 0. */
export function weighted(p: number, share: number): number {
  return share > 0 ? Math.min(1, p / share) : 1
}

/** The tests that found a change that matters, surest first. */
export function mattering(tests: readonly TestOutcome[]): TestOutcome[] {
  return tests.filter(({ matters }) => matters).sort((a, b) => a.p - b.p)
}

/** The effective number of independent points on the side that has fewer. */
export function effectivePoints({ effectiveN }: Tested): number {
  return Math.min(effectiveN.control, effectiveN.experiment)
}

/** Mean of the experiment divided by the mean of the control. Null if it has no value. */
export function meanRatio({ control, experiment }: CleanSides): number | null {
  const ratio = describeSeries(experiment.values).mean / describeSeries(control.values).mean
  return Number.isFinite(ratio) ? ratio : null
}
