import { EXACT_UP_TO, normalShift, rankShift } from './rank-sum-tail.js'
import type { RankShift } from './rank-sum-tail.js'
import { walkTies } from './walk-ties.js'

/** By the normal distribution; what is nearer to nothing is never far by the exact one. */
const WORTH_COUNTING = 2
const NONE = new Float64Array()

/**
 * How far the first values of a series lie above and below those behind them, as `rankShift` tells: of the first one, of the first two, up to
 * `most`. Small samples are counted exactly where they may be far, and all are ranked once.
 */
export function frontShifts(values: Float64Array, most: number): readonly RankShift[] {
  const { rankOf, ties } = ranksOf(values)
  let sum = 0
  return Array.from(values.subarray(0, most), (value, at) => {
    sum += rankOf.get(value) ?? 0
    const count = at + 1
    const shift = normalShift({ sum, ties }, count, values.length - count)
    const isPlain = Math.max(shift.above, shift.below) < WORTH_COUNTING
    return values.length > EXACT_UP_TO || isPlain
      ? shift
      : rankShift(values.slice(0, count).sort(), values.slice(count).sort())
  })
}

/** The rank of each value among all, which equal ones share, and the sum of T^3 - T over the groups of T equal values. */
function ranksOf(values: Float64Array): {
  readonly rankOf: ReadonlyMap<number, number>
  readonly ties: number
} {
  const sorted = values.toSorted()
  const rankOf = new Map<number, number>()
  let ties = 0
  walkTies(sorted, NONE, 0, (before, equal) => {
    rankOf.set(sorted[before] ?? 0, before + (equal + 1) / 2)
    ties += equal ** 3 - equal
  })
  return { rankOf, ties }
}
