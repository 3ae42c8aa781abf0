import { longestRun } from '../../statistics/longest-run.js'
import type { MetricSpec } from '../series/types.js'
import { kindOfValues } from './samples/kind-of-values.js'
import type { CleanSide } from './samples/clean-side.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { describeTotals } from './tests/describe-totals.js'
import { totalOf } from './tests/total-events.js'

/** From here on a burst is worth a look: what one error in a few minutes may grow to by chance stays below. */
const BURST_RATIO = 4
const BURST_EVENTS = 20
/** So many points in a row, or so many stretches, of more than twice what any of the baseline has are no bursts as it has them, and one fewer are worth a note. */
const MIN_POINTS = 4
const FAR_RATIO = 2
/** Of a service whose errors come in bursts, so few runs without a change show as much. */
const LEANING = 0.1

/** What many more events in bursts, in which no test found a change, ask of people, or are worth a note. */
export interface Bursts {
  readonly says: string
  readonly needsReview: boolean
}

/**
 * Events that came in bursts, which count as few. Both sides of a service whose errors come so have some now and then: people are asked
 * where the canary's last longer or are higher than any of the baseline, where there are many of them, and of a critical metric.
 */
export function burstsOf(
  spec: MetricSpec,
  sides: CleanSides,
  tested: Tested | undefined,
): Bursts | undefined {
  if (spec.direction === 'decrease' || kindOfValues(sides, spec.kind) !== 'count') return undefined
  const says = `${describeTotals(sides, spec)}, but in bursts that count as few: see what they are`
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
 * How many points in a row, or how many stretches, have more than twice the rate of any of the baseline, if all that is more than a few events. Where
 * bursts of both sides are alike, the four highest are all the canary's in one of sixteen runs at the most.
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
