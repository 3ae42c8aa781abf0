import type { MetricSeries } from '../types.js'

/** So many zeros in a row, and this share of all points, are no single failed scrape any more. */
const OUTAGE_POINTS = 5
const OUTAGE_SHARE = 0.1
/** Values are at work that are not 0 in so many of the points; elsewhere zeros say nothing. */
const AT_WORK_SHARE = 0.9

/** A stretch in which the canary's values were 0 though they are not usually, nor those of the baseline. */
export interface Outage {
  readonly reason: string
  /** Whether it went on at the end of the window. */
  readonly isLast: boolean
}

/** The longest outage of the canary's values; undefined where there is none. */
export function outageOf({ control, experiment }: MetricSeries): Outage | undefined {
  const { values } = experiment
  const { length } = values
  if (control.values.length !== length || !isAtWork(control.values)) return undefined
  const [from, to] = longestZeros(values)
  const points = to - from
  if (points < Math.max(OUTAGE_POINTS, length * OUTAGE_SHARE)) return undefined
  if (!isAtWork(values.filter((_, place) => place < from || place >= to))) return undefined
  const isLast = to === length
  const which = isLast ? `the last ${points} of ${length}` : `${points} of ${length}`
  const advice = isLast ? ': see whether the canary still runs' : ''
  return {
    reason: `the canary's values fell to 0 for ${which} points, the baseline's did not${advice}`,
    isLast,
  }
}

function isAtWork(values: Float64Array): boolean {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.length > 0 && known.filter((value) => value !== 0).length >= known.length * AT_WORK_SHARE
}

/** From where to before where the longest run of zeros goes. */
function longestZeros(values: Float64Array): readonly [number, number] {
  let longest: readonly [number, number] = [0, 0]
  let from = 0
  for (let place = 0; place <= values.length; place += 1) {
    if (values[place] === 0) continue
    if (place - from > longest[1] - longest[0]) longest = [from, place]
    from = place + 1
  }
  return longest
}
