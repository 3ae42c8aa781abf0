import { longestRun } from '../../statistics/longest-run.js'
import type { MetricSpec } from '../series/types.js'
import { kindOfValues } from './samples/kind-of-values.js'
import type { CleanSide } from './samples/clean-side.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { describeTotals } from './tests/describe-totals.js'
import { totalOf } from './tests/total-events.js'

/**
 * Minimum ratio of rates for a burst to be noted. Chance growth of one error in a few minutes stays
 * below it.
 */
const BURST_RATIO = 4
const BURST_EVENTS = 20
/**
 * Minimum number of consecutive points, or of stretches, above `FAR_RATIO` times any of the
 * baseline for a review. One fewer makes a note.
 */
const MIN_POINTS = 4
const FAR_RATIO = 2
/** The chance of as many events in a service whose errors come in bursts. */
const LEANING = 0.1

/** Bursts in which no test found a change: a note, or a reason for a review. */
export interface Bursts {
  readonly says: string
  readonly needsReview: boolean
}

/**
 * Finds bursts of events, which count as few independent events. Both sides of a bursty service
 * have some. A review is needed if the canary's bursts last longer or are higher than any of the
 * baseline, if there are many of them, or if the metric is critical.
 */
export function burstsOf(
  spec: MetricSpec,
  sides: CleanSides,
  tested: Tested | undefined,
): Bursts | undefined {
  if (spec.direction === 'decrease' || kindOfValues(sides, spec.kind) !== 'count') return undefined
  const says = `${describeTotals(sides, spec)}. The events come in bursts, which count as few. Check the bursts`
  const higher = higherPoints(sides)
  if (higher >= MIN_POINTS) return { says, needsReview: true }
  const [x, y] = [totalOf(sides.experiment), totalOf(sides.control)]
  const expected = (y.events * x.exposure) / y.exposure
  const isMuch = x.events >= expected * BURST_RATIO && x.events >= expected + BURST_EVENTS
  if (!isMuch && higher < MIN_POINTS - 1) return undefined
  return { says, needsReview: spec.critical || isLeaning(tested) }
}

/** Whether the tests, though they found no change, say that one is likelier than not. */
export function isLeaning(tested: Tested | undefined): boolean {
  return tested?.tests.some(({ change, p, matters }) => change === 'High' && matters && p <= LEANING) ?? false
}

/**
 * The number of consecutive points, or of stretches, with more than twice the rate of any of the
 * baseline; 0 if they hold only a few events. If the bursts of both sides are alike, the four
 * highest all belong to the canary in at most one of sixteen runs.
 */
function higherPoints({ control, experiment }: CleanSides): number {
  const most = FAR_RATIO * ratesOf(control).reduce((high, rate) => Math.max(high, rate), 0)
  const rates = ratesOf(experiment)
  const isHigher = (rate = 0): boolean => rate > most
  const beyond = experiment.values.reduce(
    (sum, value, at) => sum + (isHigher(rates[at]) ? value - most * (experiment.exposure[at] ?? 1) : 0),
    0,
  )
  if (beyond < BURST_EVENTS) return 0
  const { from, to } = longestRun(rates, isHigher)
  const stretches = rates.filter((rate, at) => isHigher(rate) && !isHigher(rates[at - 1])).length
  return Math.max(to - from, stretches)
}

function ratesOf({ values, exposure }: CleanSide): Float64Array {
  return values.map((value, index) => value / (exposure[index] ?? 1))
}
