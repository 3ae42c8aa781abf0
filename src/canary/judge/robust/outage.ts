import { sortedQuantile } from '../../statistics/quantile.js'
import type { MetricSeries } from '../series/types.js'

/** This many zeros in a row, and this share of all points, are no single failed scrape any more. */
const OUTAGE_POINTS = 5
const OUTAGE_SHARE = 0.1
/**
 * Minimum distance from 0, as a share of the typical value, for three zeros in a row to be an
 * outage.
 */
const FAR_FROM_ZERO = 0.25
const FAR_POINTS = 3
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
  if (points < FAR_POINTS) return undefined
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
