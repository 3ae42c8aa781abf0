import type { Direction, MetricSpec, TestOutcome } from '../types.js'
import { centredRanks, dependence } from './autocorrelation.js'
import type { CleanSides, Tested } from './metric-tests.js'
import { percent, weighted } from './metric-tests.js'
import { baselineLevel, relativeTo } from './baseline-level.js'
import { detectableShift } from './detectable-shift.js'
import { ERROR_SHARES } from './settings.js'
import type { RobustSettings } from './settings.js'
import { testShift } from './shift-test.js'
import type { Shift } from './shift-test.js'
import { testSpread } from './spread-test.js'
import { testTail } from './tail-test.js'

/** A wider spread matters from this ratio on, if it also widens the band of most points by the margin. */
const SPREAD_RATIO = 1.5
/** Half the band that holds 95 % of normal points is so many mean absolute deviations. */
const BAND_IN_DEVIATIONS = 2.46
/** The bounds of an interval where no change of that direction is looked for. */
const USUAL_ERROR = 0.1

interface Scene {
  readonly sides: CleanSides
  readonly direction: Direction
  readonly level: number
  readonly allowed: Allowed
}

/** The changes that do not matter, in the metric's unit. */
interface Allowed {
  readonly increase: number
  readonly decrease: number
}

/** Tests measurements for a shift, for points far out, and for a wider spread. */
export function testGauge(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): Tested {
  const { control, experiment } = sides
  const level = baselineLevel(control.sorted)
  const margins = marginsOf(spec, settings)
  const allowed = { increase: margins.increase * level, decrease: margins.decrease * level }
  const scene = { sides, direction: spec.direction, level, allowed }
  const together = dependence([
    centredRanks(control.values, control.places),
    centredRanks(experiment.values, experiment.places),
  ])
  const shares = ERROR_SHARES[spec.direction]
  const errorOf = (share: number): number => settings.alpha * (share > 0 ? share : USUAL_ERROR)
  const errors = { lower: errorOf(shares.shiftHigh), upper: errorOf(shares.shiftLow) }
  const shift = testShift(experiment.sorted, control.sorted, together, errors)
  const worth = (points: number): number => points / together.inflation
  const effectiveN = { control: worth(control.values.length), experiment: worth(experiment.values.length) }
  return {
    kind: 'gauge',
    method: 'independent',
    estimate: shift.estimate,
    confidenceInterval: shift.interval,
    level,
    relative: relativeTo(level, shift.estimate, shift.interval),
    margin: margins.increase,
    cliffsDelta: shift.cliffsDelta,
    alpha: settings.alpha,
    effectiveN,
    autocorrelation: together.autocorrelation,
    detectable: detectableShift(sides, effectiveN, errors.lower, level),
    tests: [...shiftOutcomes(shift, scene, spec), ...tailOutcomes(scene), spreadOutcome(scene)],
  }
}

/** Explicit margins win; then what Kayenta's effect size allows beyond its neutral value; then the run's. */
export function marginsOf(spec: MetricSpec, { margin }: RobustSettings): Allowed {
  const { measure, allowedIncrease, allowedDecrease } = spec.effectSize
  const usual = spec.margin ?? margin
  if (spec.margin !== undefined || measure === 'cles') return { increase: usual, decrease: usual }
  return {
    increase: allowedIncrease > 1 ? allowedIncrease - 1 : usual,
    decrease: allowedDecrease < 1 ? 1 - allowedDecrease : usual,
  }
}

function shiftOutcomes(shift: Shift, { direction, level, allowed }: Scene, spec: MetricSpec): TestOutcome[] {
  const shares = ERROR_SHARES[direction]
  const says = `the typical value changed by ${describeChange(shift.estimate, level)}`
  const superiority = (shift.cliffsDelta + 1) / 2
  const { measure, allowedIncrease, allowedDecrease } = spec.effectSize
  const isRank = measure === 'cles'
  return [
    {
      test: 'shift',
      change: 'High',
      p: weighted(shift.pHigh, shares.shiftHigh),
      matters: shift.estimate > allowed.increase && (!isRank || superiority >= allowedIncrease),
      says,
    },
    {
      test: 'shift',
      change: 'Low',
      p: weighted(shift.pLow, shares.shiftLow),
      matters: -shift.estimate > allowed.decrease && (!isRank || superiority <= allowedDecrease),
      says,
    },
  ]
}

function tailOutcomes({ sides, direction, level, allowed }: Scene): TestOutcome[] {
  const shares = ERROR_SHARES[direction]
  return (['high', 'low'] as const).map((end) => {
    const isHigh = end === 'high'
    const share = isHigh ? shares.tailHigh : shares.tailLow
    const reach = isHigh ? allowed.increase : allowed.decrease
    const tail = testTail(sides, end, reach)
    const where = isHigh ? 'above' : 'below'
    return {
      test: 'tail',
      change: isHigh ? 'High' : 'Low',
      p: weighted(tail.p, share),
      matters: tail.adds > reach,
      says: `${tail.experiment} points lie far ${where} the others, ${tail.control} in the baseline, which changes the mean by ${describeChange(isHigh ? tail.adds : -tail.adds, level)}`,
    }
  })
}

function spreadOutcome({ sides, direction, allowed }: Scene): TestOutcome {
  const { p, control, experiment } = testSpread(sides)
  const isWider = experiment > SPREAD_RATIO * control
  const isFar = BAND_IN_DEVIATIONS * (experiment - control) > Math.max(allowed.increase, allowed.decrease)
  return {
    test: 'spread',
    change: direction === 'decrease' ? 'Low' : 'High',
    p: weighted(p, ERROR_SHARES[direction].spread),
    matters: isWider && isFar,
    says: `the values spread ${control > 0 ? `${(experiment / control).toFixed(1)} times as wide` : 'where they were constant'}`,
  }
}

function describeChange(change: number, level: number): string {
  return level > 0 ? `${percent(change / level)} of the baseline` : String(Number(change.toPrecision(4)))
}
