import { spendAlphaFromStart } from '../../../statistics/alpha-spending.js'
import type { Direction, JudgeOptions } from '../../series/types.js'

/** A test of a metric together with the change that it detects. `mean` is for each direction. */
export type TestedChange = 'shiftHigh' | 'shiftLow' | 'tailHigh' | 'tailLow' | 'spread' | 'mean'
type Shares = Readonly<Record<TestedChange, number>>

/** How the default judge judges. */
export interface RobustSettings {
  /** The chance that a metric without any change is flagged. */
  readonly alpha: number
  /** The chance that a count of events without any change is flagged. */
  readonly countAlpha: number
  /** The rate of false discoveries among the flagged metrics of a run. */
  readonly discoveryRate: number
  /** The change that does not matter, as a share of the baseline. */
  readonly margin: number
  /** Minimum number of points, and of effective points, on each side. */
  readonly minPoints: number
  /** The errors of the whole run. Undefined at its last interval. */
  readonly later: Pick<RobustSettings, 'alpha' | 'countAlpha' | 'discoveryRate'> | undefined
}

const CONFIDENCE = 0.98
/**
 * Counts get 2.5 times the error: a rise of errors is the main reason for a canary, and exact tests
 * of few events spend less than their error.
 */
const COUNT_FACTOR = 2.5
const DISCOVERY_RATE = 0.05
const MARGIN = 0.05
const MIN_POINTS = 8

/**
 * The error of each test as a share of the metric's error. If either change is harm, nearly all of
 * it goes to increases: most metrics measure errors, times and loads. Others set `direction:
 * decrease`.
 */
export const ERROR_SHARES: Readonly<Record<Direction, Shares>> = {
  either: { shiftHigh: 0.77, shiftLow: 0.03, tailHigh: 0.17, tailLow: 0.02, spread: 0.005, mean: 0.0025 },
  increase: { shiftHigh: 0.82, shiftLow: 0, tailHigh: 0.17, tailLow: 0, spread: 0.005, mean: 0.0025 },
  decrease: { shiftHigh: 0, shiftLow: 0.82, tailHigh: 0, tailLow: 0.17, spread: 0.005, mean: 0.0025 },
}

/** The settings for these options, with the error that the interval may spend. */
export function makeSettings({
  confidence = CONFIDENCE,
  tolerance = MARGIN,
  interval,
}: JudgeOptions): RobustSettings {
  const alpha = 1 - confidence
  const countAlpha = Math.min(alpha * COUNT_FACTOR, 0.5)
  return {
    alpha: spendAlphaFromStart(alpha, interval),
    countAlpha: spendAlphaFromStart(countAlpha, interval),
    discoveryRate: spendAlphaFromStart(DISCOVERY_RATE, interval),
    margin: tolerance,
    minPoints: MIN_POINTS,
    later:
      interval !== undefined && interval.interval < interval.intervals
        ? { alpha, countAlpha, discoveryRate: DISCOVERY_RATE }
        : undefined,
  }
}
