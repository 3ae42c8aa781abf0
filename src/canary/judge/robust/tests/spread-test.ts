import { sortedQuantile } from '../../../statistics/quantile.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import { studentUpperTail } from '../../../statistics/student.js'
import { centredScores, dependence } from '../samples/autocorrelation.js'
import type { CleanSide } from '../samples/clean-side.js'
import type { CleanSides } from '../samples/metric-tests.js'

/** How much wider the experiment's points lie about their median. */
export interface Spread {
  readonly p: number
  /** Mean absolute deviations from the side's own median. */
  readonly control: number
  readonly experiment: number
  /** The distance of the experiment's ends outside those of the control, in the metric's unit. */
  readonly above: number
  readonly below: number
}

/** Share of a side's points beyond each of its ends. */
const END = 0.1
/** The width of the grid of deviations, as a share of the largest value. */
const GRID = 1e-12

/**
 * Whether the experiment's points spread wider about their median: the rank test on absolute
 * deviations.
 */
export function testSpread({ control, experiment }: CleanSides): Spread {
  const [inControl, inExperiment] = [deviations(control), deviations(experiment)]
  const [sortedControl, sortedExperiment] = [inControl.toSorted(), inExperiment.toSorted()]
  const { inflation, freedom } = dependence([
    centredScores(inControl, control.places, sortedControl),
    centredScores(inExperiment, experiment.places, sortedExperiment),
  ])
  const { above } = rankShift(sortedExperiment, sortedControl)
  return {
    p: studentUpperTail(above / Math.sqrt(inflation), freedom),
    control: mean(inControl),
    experiment: mean(inExperiment),
    above: sortedQuantile(experiment.sorted, 1 - END) - sortedQuantile(control.sorted, 1 - END),
    below: sortedQuantile(control.sorted, END) - sortedQuantile(experiment.sorted, END),
  }
}

/**
 * Rounds to a grid: equal distances above and below the median must stay equal despite rounding or
 * a change of unit.
 */
function deviations({ values, sorted }: CleanSide): Float64Array {
  const median = sortedQuantile(sorted, 0.5)
  const grid = GRID * Math.max(Math.abs(sorted[0] ?? 0), Math.abs(sorted.at(-1) ?? 0))
  if (!(grid > 0)) return new Float64Array(values.length)
  return values.map((value) => Math.round(Math.abs(value - median) / grid) * grid)
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
