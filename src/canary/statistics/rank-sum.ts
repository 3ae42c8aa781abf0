import { walkTies } from './walk-ties.js'

/** The ranks of one sample among the values of two. */
export interface RankSum {
  /** The sum of the first sample's ranks in both together; equal values share the mean of their ranks. */
  readonly sum: number
  /** The sum of T^3 - T over the groups of T equal values. */
  readonly ties: number
}

/** Ranks `first`, each value less `shift`, among itself and `second`; both in ascending order. Takes linear time. */
export function rankSum(first: Float64Array, second: Float64Array, shift = 0): RankSum {
  let [sum, ties] = [0, 0]
  walkTies(first, second, shift, (before, equal, fromFirst) => {
    sum += fromFirst * (before + (equal + 1) / 2)
    ties += equal ** 3 - equal
  })
  return { sum, ties }
}

/** The variance of the rank sum when both samples come from one distribution, equal values considered. */
export function rankSumVariance(n: number, m: number, ties: number): number {
  const all = n + m
  return ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)))
}
