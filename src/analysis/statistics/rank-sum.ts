import { AppError } from '../../errors.js'

/** The ranks of one sample among the values of two. */
export interface RankSum {
  /** The sum of the first sample's ranks in both together; equal values share the mean of their ranks. */
  readonly sum: number
  /** The sum of T^3 - T over the groups of T equal values. */
  readonly ties: number
}

/** Ranks `first`, each value less `shift`, among itself and `second`; both in ascending order. Takes linear time. */
export function rankSum(first: Float64Array, second: Float64Array, shift = 0): RankSum {
  const [n, m] = [first.length, second.length]
  let [i, j, sum, ties] = [0, 0, 0, 0]
  while (i < n || j < m) {
    const x = i < n ? (first[i] ?? 0) - shift : Infinity
    const y = j < m ? (second[j] ?? 0) : Infinity
    const value = Math.min(x, y)
    const fromFirst = i
    const before = i + j
    while (i < n && (first[i] ?? 0) - shift === value) i += 1
    while (j < m && (second[j] ?? 0) === value) j += 1
    const equal = i + j - before
    if (equal === 0) throw noNumber()
    sum += (i - fromFirst) * (before + (equal + 1) / 2)
    ties += equal ** 3 - equal
  }
  return { sum, ties }
}

/** What a rank was asked of: nothing is equal to it, so that a walk along ranks would never end. */
export function noNumber(): AppError {
  return new AppError('evaluation_failed', 'a value is no number once it is shifted')
}

/** The variance of the rank sum when both samples come from one distribution, equal values considered. */
export function rankSumVariance(n: number, m: number, ties: number): number {
  const all = n + m
  return ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)))
}
