import { sortedQuantile } from '../../statistics/quantile.js'
import { rankShift } from '../../statistics/rank-sum-tail.js'
import { studentUpperTail } from '../../statistics/student.js'
import { centredRanks, dependence } from './autocorrelation.js'
import type { CleanSide } from './clean-side.js'
import type { CleanSides } from './metric-tests.js'

/** How much wider the experiment's points lie about their median. */
export interface Spread {
  readonly p: number
  /** Mean absolute deviations from the side's own median. */
  readonly control: number
  readonly experiment: number
}

/** Whether the experiment's points lie wider about their median: the rank test on absolute deviations. */
export function testSpread({ control, experiment }: CleanSides): Spread {
  const [inControl, inExperiment] = [deviations(control), deviations(experiment)]
  const { inflation, freedom } = dependence([
    centredRanks(inControl, control.places),
    centredRanks(inExperiment, experiment.places),
  ])
  const { above } = rankShift(inExperiment.toSorted(), inControl.toSorted())
  return {
    p: studentUpperTail(above / Math.sqrt(inflation), freedom),
    control: mean(inControl),
    experiment: mean(inExperiment),
  }
}

function deviations({ values, sorted }: CleanSide): Float64Array {
  const median = sortedQuantile(sorted, 0.5)
  return values.map((value) => Math.abs(value - median))
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
