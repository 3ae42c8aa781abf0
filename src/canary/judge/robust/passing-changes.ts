import { percent } from '../../../lib/text/number-text.js'
import { fisherExact } from '../../statistics/fisher-exact.js'
import { sortedQuantile } from '../../statistics/quantile.js'
import { rankShift } from '../../statistics/rank-sum-tail.js'
import { studentUpperTail } from '../../statistics/student.js'
import type { MetricSpec } from '../series/types.js'
import { centredScores, dependence } from './samples/autocorrelation.js'
import type { Dependence } from './samples/autocorrelation.js'
import { baselineLevel } from './samples/baseline-level.js'
import { endOf } from './samples/clean-side.js'
import { harmfulSigns } from './samples/metric-tests.js'
import type { CleanSides } from './samples/metric-tests.js'
import type { RobustSettings } from './samples/settings.js'

/** Start of the last quarter of a window. */
const LATE_FROM = 0.75
/** Fewer points of a quarter say nothing. */
const MIN_LATE_POINTS = 5
/** The error of a note, a direction. */
const NOTE_ALPHA = 0.005
/** Minimum additional share of missing points on the canary for a note. */
const MISSING_SHARE = 0.15
/** Minimum change of a note, in margins. */
const NOTE_MARGINS = 2
/** Minimum number of points at the start beyond all of the baseline for a note. */
const MIN_FIRST_POINTS = 3

interface TestInput {
  readonly sides: CleanSides
  readonly level: number
  /** The least change that is noted, in the metric's unit. */
  readonly reach: number
  readonly signs: readonly (1 | -1)[]
}

/**
 * Notes on a metric that passes: the canary left its baseline at the end, or differed from it at
 * the start. They do not affect the verdict, since the tests compare whole windows.
 */
export function passingChanges(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): string[] {
  const level = baselineLevel(sides.control.sorted)
  if (!(level > 0)) return missingPoints(sides, spec)
  const signs = harmfulSigns(spec.direction)
  const input = { sides, level, reach: NOTE_MARGINS * (spec.margin ?? settings.margin) * level, signs }
  return [...missingPoints(sides, spec), ...firstPoints(input), ...lastQuarter(input)]
}

/**
 * A canary with values in far fewer of its points than the baseline. With zeros for gaps there are
 * no missing points.
 */
function missingPoints({ control, experiment }: CleanSides, { nanStrategy }: MetricSpec): string[] {
  const [n, m] = [experiment.values.length, control.values.length]
  const [all, others] = [endOf(experiment), endOf(control)]
  if (nanStrategy === 'replace' || m / others - n / all < MISSING_SHARE) return []
  const { greater } = fisherExact({
    ...{ canaryEvents: all - n, canaryOthers: n },
    ...{ baselineEvents: others - m, baselineOthers: m },
  })
  return greater > NOTE_ALPHA
    ? []
    : [`The canary has a value in ${n} of ${all} points, the baseline in ${m} of ${others}`]
}

function lastQuarter({ sides, level, reach, signs }: TestInput): string[] {
  const start = LATE_FROM * Math.max(endOf(sides.control), endOf(sides.experiment))
  const [x, y] = [sides.experiment, sides.control].map((side) =>
    side.values.filter((_, index) => (side.places[index] ?? 0) >= start).sort(),
  )
  if (x === undefined || y === undefined || Math.min(x.length, y.length) < MIN_LATE_POINTS) return []
  const change = sortedQuantile(x, 0.5) - sortedQuantile(y, 0.5)
  const sign = signs.find((each) => each * change > reach)
  if (sign === undefined) return []
  const { inflation, freedom } = dependenceBefore(sides, start)
  const { above, below } = rankShift(x, y)
  const p = studentUpperTail((sign > 0 ? above : below) / Math.sqrt(inflation), freedom)
  return p > NOTE_ALPHA ? [] : [`The last quarter of the canary is ${away(change / level)} the baseline's`]
}

/** A late change of the canary must not widen the test that searches for it. */
function dependenceBefore({ control, experiment }: CleanSides, start: number): Dependence {
  const places = experiment.places.filter((place) => place < start)
  return dependence([control.scores, centredScores(experiment.values.subarray(0, places.length), places)])
}

function firstPoints({ sides: { control, experiment }, level, reach, signs }: TestInput): string[] {
  return signs.flatMap((sign) => {
    const end = (sign > 0 ? control.sorted.at(-1) : control.sorted[0]) ?? Number.NaN
    const isBeyond = (value: number): boolean => sign * (value - end) > 0
    const within = experiment.values.findIndex((value) => !isBeyond(value))
    const first = experiment.values.subarray(0, Math.max(0, within)).toSorted()
    const change = sortedQuantile(first, 0.5) - sortedQuantile(control.sorted, 0.5)
    if (first.length < MIN_FIRST_POINTS || sign * change <= reach) return []
    // A baseline that begins so itself has no other start.
    const until = experiment.places[within] ?? endOf(experiment)
    const during = control.values.filter((_, at) => (control.places[at] ?? 0) < until).sort()
    if (sign * (sortedQuantile(first, 0.5) - sortedQuantile(during, 0.5)) <= reach) return []
    return [
      `The first ${first.length} points of the canary are ${away(change / level)} the baseline. Set warmUpMinutes to leave a start out`,
    ]
  })
}

function away(share: number): string {
  return `${percent(Math.abs(share)).replace('+', '')} ${share > 0 ? 'above' : 'below'}`
}
