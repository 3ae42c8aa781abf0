import { longestRun } from '../../statistics/longest-run.js'
import type { MetricSeries } from '../series/types.js'
import { burstsOf } from './bursts.js'
import type { FarPoints } from './far-points.js'
import type { NoData } from './find-no-data.js'
import { countedOtherwise, notComparable } from './samples/comparable.js'
import { stuckOf } from './vanished-start.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { sortedQuantile } from '../../statistics/quantile.js'

/**
 * Minimum number of points without a value at the end, and minimum share of all points, beyond
 * which data is not just late.
 */
const SILENT_POINTS = 5
const SILENT_SHARE = 0.1
/** The same at the start, where a canary may be late, and of the baseline. */
const LATE_START_SHARE = 0.2
const BASELINE_SHARE = 1 / 3
/**
 * Share of the silence for which the control must have values: sparse series are silent on both
 * sides.
 */
const HEARD_SHARE = 0.9

/**
 * The reason why a metric without a found change does not pass: the canary fell silent or to 0, or
 * many more events came in a burst, which counts as one event. Undefined if there is no reason.
 * `tested` holds the results of
 * the tests, `far` the points beyond the baseline.
 */
export function doubtOf(
  metric: MetricSeries,
  sides: CleanSides,
  outage: string | undefined,
  tested: Tested | undefined,
  far: FarPoints | undefined,
): NoData | undefined {
  const silent =
    missingStretch(metric) ??
    sparseSide(metric) ??
    lostUnits(metric) ??
    stuckOf(sides) ??
    burstsToReview(metric, sides, tested) ??
    fallToZero(metric, outage)
  const reason =
    silent ??
    (far?.needsReview === true ? far.says : undefined) ??
    notComparable(metric, sides) ??
    countedOtherwise(metric, sides)
  return reason === undefined ? undefined : { state: 'doubtful', reason }
}

function burstsToReview(
  { spec }: MetricSeries,
  sides: CleanSides,
  tested: Tested | undefined,
): string | undefined {
  const bursts = burstsOf(spec, sides, tested)
  return bursts?.needsReview === true ? bursts.says : undefined
}

/** If only a rise is harm, 0 is welcome. */
function fallToZero({ spec }: MetricSeries, outage: string | undefined): string | undefined {
  return spec.direction === 'increase' ? undefined : outage
}

/**
 * A stretch in which one side has no values although the other has: the canary fell silent, was not
 * there yet, or is compared with less of its baseline.
 */
function missingStretch({ spec, control, experiment }: MetricSeries): string | undefined {
  // Zeros that stand for gaps are values. Points that were never written are not.
  const hasValue = (value: number): boolean => spec.nanStrategy === 'replace' || !Number.isNaN(value)
  const points = Math.max(control.values.length, experiment.values.length)
  const [x, y] = [experiment, control].map(({ values }) =>
    Uint8Array.from({ length: points }, (_, place) =>
      Number(place < values.length && hasValue(values[place] ?? Number.NaN)),
    ),
  )
  if (x === undefined || y === undefined) return undefined
  return missingFrom(x, y, 'canary') ?? missingFrom(y, x, 'baseline')
}

/** The longest stretch without values of one side, if it is more than late data or a late start. */
function missingFrom(one: Uint8Array, other: Uint8Array, side: 'canary' | 'baseline'): string | undefined {
  const { length } = one
  const { from, to } = longestRun(one, (isKnown) => isKnown === 0)
  const gap = to - from
  const isLast = to === length
  const share = side === 'baseline' ? BASELINE_SHARE : from === 0 ? LATE_START_SHARE : SILENT_SHARE
  if (gap < Math.max(SILENT_POINTS, share * length)) return undefined
  const known = (values: Uint8Array): number => values.reduce((sum, isKnown) => sum + isKnown, 0)
  const isKnownElsewhere = known(one) >= (length - gap) * HEARD_SHARE
  if (!isKnownElsewhere && !isLast) return undefined
  if (known(other.subarray(from, to)) < gap * HEARD_SHARE) return undefined
  const others = side === 'canary' ? 'baseline' : 'canary'
  if (isLast && side === 'canary')
    return `The canary has no value in the last ${gap} of ${length} points, but the baseline has. Check whether the canary still runs`
  const where = isLast ? ` in the last ${gap}` : from === 0 ? ` in the first ${gap}` : ` for ${gap}`
  const start = !isLast && from > 0 ? ` from point ${from + 1} on` : ''
  return `The ${side} has no value${where} of ${length} points${start}, but the ${others} has. Check what happened`
}

/** Maximum share of the other side's values with which a side is not compared as if it were whole. */
const SPARSE_SHARE = 0.5

/** A side with at most half as many values as the other, wherever its gaps are. */
function sparseSide({ spec, control, experiment }: MetricSeries): string | undefined {
  if (spec.nanStrategy === 'replace') return undefined
  const [n, m] = [experiment, control].map(
    ({ values }) => values.filter((value) => !Number.isNaN(value)).length,
  )
  if (n === undefined || m === undefined) return undefined
  const points = Math.max(control.values.length, experiment.values.length)
  if (Math.max(n, m) - Math.min(n, m) < SILENT_POINTS || Math.min(n, m) > SPARSE_SHARE * Math.max(n, m))
    return undefined
  const [side, other] = n < m ? ['canary', 'baseline'] : ['baseline', 'canary']
  return `The ${side} has a value in ${Math.min(n, m)} of ${points} points, the ${other} in ${Math.max(n, m)}. Check why values are missing`
}

/** Units of the canary (pods) that stop having values while no unit of the baseline does. */
function lostUnits({ control, experiment }: MetricSeries): string | undefined {
  const { units = [] } = experiment
  const lost = lostOf(units)
  if (lost === 0 || lostOf(control.units ?? []) > 0) return undefined
  return `${lost} of ${units.length} units of the canary ${lost === 1 ? 'has' : 'have'} no value at the end of the window, the baseline has all of its units. Check whether ${lost === 1 ? 'this unit' : 'these units'} still run${lost === 1 ? 's' : ''}`
}

/** By how many the units with values are fewer at the end than in most of the window. */
function lostOf(units: readonly Float64Array[]): number {
  const points = Math.max(0, ...units.map(({ length }) => length))
  const silence = Math.max(SILENT_POINTS, Math.ceil(SILENT_SHARE * points))
  if (points < 2 * silence) return 0
  const alive = (from: number, to: number): number =>
    units.filter((unit) => unit.subarray(from, to).some((value) => !Number.isNaN(value))).length
  const stretches = Array.from({ length: Math.floor(points / silence) }, (_, index) =>
    alive(points - (index + 1) * silence, points - index * silence),
  )
  const [last = 0, ...others] = stretches
  const usual = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? 0
  return Math.max(0, usual - last)
}

/**
 * Minimum number of consecutive zeros, and minimum share of all points, that is more than a failed
 * scrape.
 */
const OUTAGE_POINTS = 5
const OUTAGE_SHARE = 0.1
/** Minimum number of consecutive zeros far from all other values. */
const FAR_ZEROS = 3
/**
 * Minimum distance from 0, as a share of the typical value, for three zeros in a row to be an
 * outage.
 */
const FAR_FROM_ZERO = 0.25
/**
 * Minimum share of values that are not 0 for a side to be at work. On idle sides zeros mean
 * nothing.
 */
const AT_WORK_SHARE = 0.9

/**
 * The longest outage of the canary, as a sentence: a stretch of zeros, although neither side is
 * usually 0. Undefined if there is none.
 */
export function outageOf({ control, experiment }: MetricSeries): string | undefined {
  const { values } = experiment
  const { length } = values
  const { from, to, points } = longestZeros(values)
  if (points < FAR_ZEROS) return undefined
  const elsewhere = values.filter((_, place) => place < from || place >= to)
  const isFar = isFarFromZero(control.values) && isFarFromZero(elsewhere)
  // The latest points are often late.
  if ((!isFar || to === length) && points < Math.max(OUTAGE_POINTS, length * OUTAGE_SHARE)) return undefined
  if (!isAtWork(control.values) || !isAtWork(elsewhere)) return undefined
  const isLast = to === length
  const which = isLast ? `the last ${points} of ${length}` : `${points} of ${length}`
  const advice = isLast ? '. Check whether the canary still runs' : ''
  return `The canary's values fell to 0 for ${which} points, the baseline's did not${advice}`
}

function isAtWork(values: Float64Array): boolean {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.length > 0 && known.filter((value) => value !== 0).length >= known.length * AT_WORK_SHARE
}

function isFarFromZero(values: Float64Array): boolean {
  const known = values.filter((value) => !Number.isNaN(value)).sort()
  return (known[0] ?? 0) > FAR_FROM_ZERO * sortedQuantile(known, 0.5)
}

interface Zeros {
  readonly from: number
  /**
   * The place after the last zero and the gaps that follow it: the latest points often have no
   * value yet.
   */
  readonly to: number
  readonly points: number
}

function longestZeros(values: Float64Array): Zeros {
  let longest: Zeros = { from: 0, to: 0, points: 0 }
  let [from, points] = [0, 0]
  for (let place = 0; place <= values.length; place += 1) {
    const value = values[place]
    if (value === 0) points += 1
    else if (value === undefined || !Number.isNaN(value) || points === 0) {
      if (points > longest.points) longest = { from, to: place, points }
      from = place + 1
      points = 0
    }
  }
  return longest
}
