import { walkTies } from './walk-ties.js'

/** The ranks of one sample among the values of two. */
export interface RankSum {
  /**
   * The sum of the first sample's ranks among both samples. Equal values share the mean of their
   * ranks.
   */
  readonly sum: number
  /** The sum of T^3 - T over the groups of T equal values. */
  readonly ties: number
}

/**
 * Ranks `first`, with each value reduced by `shift`, among itself and `second`. Both in ascending
 * order. Time is linear.
 */
export function rankSum(first: Float64Array, second: Float64Array, shift = 0): RankSum {
  let [sum, ties] = [0, 0]
  walkTies(first, second, shift, (before, equal, fromFirst) => {
    sum += fromFirst * (before + (equal + 1) / 2)
    ties += equal ** 3 - equal
  })
  return { sum, ties }
}

/** The variance of the rank sum if both samples come from one distribution, with ties. */
export function rankSumVariance(n: number, m: number, ties: number): number {
  const all = n + m
  return ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)))
}
