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
/** So many points in a row of more than twice what any of the baseline has are no burst as it has them, and one fewer are worth a note. */
const LEAST_POINTS = 4
const FAR_RATIO = 2
/** Of a service whose errors come in bursts, so few runs without a change show as much. */
const LEANING = 0.1

/** What many more events in bursts, in which no test found a change, ask of people, or are worth a note. */
export interface Bursts {
  readonly says: string
  readonly asks: boolean
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
  if (higher >= LEAST_POINTS) return { says, asks: true }
  const [x, y] = [totalOf(sides.experiment), totalOf(sides.control)]
  const expected = (y.events * x.exposure) / y.exposure
  const isMuch = x.events >= expected * BURST_RATIO && x.events >= expected + BURST_EVENTS
  if (!isMuch && higher < LEAST_POINTS - 1) return undefined
  return { says, asks: spec.critical || isLeaning(tested) }
}

/** Whether the tests, though they found no change, say that one is likelier than not. */
export function isLeaning(tested: Tested | undefined): boolean {
  return tested?.tests.some(({ change, p, matters }) => change === 'High' && matters && p <= LEANING) ?? false
}

/** How many points in a row have more than twice the rate of any of the baseline, if they are more than a few events. */
function higherPoints({ control, experiment }: CleanSides): number {
  const most = FAR_RATIO * ratesOf(control).reduce((high, rate) => Math.max(high, rate), 0)
  const { from, to } = longestRun(ratesOf(experiment), (rate) => rate > most)
  const sum = (all: Float64Array): number => all.subarray(from, to).reduce((total, value) => total + value, 0)
  return sum(experiment.values) >= most * sum(experiment.exposure) + BURST_EVENTS ? to - from : 0
}

function ratesOf({ values, exposure }: CleanSide): Float64Array {
  return values.map((value, index) => value / (exposure[index] ?? 1))
}
