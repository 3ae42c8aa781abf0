import { medianDifference, orderedDifference } from './ordered-difference.js'
import { noNumber } from './walk-ties.js'

/** How far differences lie above 0. */
export interface SignedRank {
  /** Standardised, corrected for continuity: large when they are above. */
  readonly above: number
  readonly below: number
  /** The standard deviation of the sum of ranks. */
  readonly deviation: number
}

/** Wilcoxon's test of differences about 0; those that are 0 say nothing, equal sizes share their ranks. */
export function signedRank(differences: Float64Array): SignedRank {
  const sized = differences.filter((value) => value !== 0).sort((a, b) => Math.abs(a) - Math.abs(b))
  const n = sized.length
  let [positive, ties] = [0, 0]
  for (let from = 0; from < n;) {
    let to = from
    const size = Math.abs(sized[from] ?? 0)
    if (Number.isNaN(size)) throw noNumber()
    while (to < n && Math.abs(sized[to] ?? 0) === size) to += 1
    for (let index = from; index < to; index += 1)
      if ((sized[index] ?? 0) > 0) positive += (from + to + 1) / 2
    ties += (to - from) ** 3 - (to - from)
    from = to
  }
  const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24 - ties / 48)
  const distance = positive - (n * (n + 1)) / 4
  if (!(deviation > 0)) return { above: 0, below: 0, deviation: 0 }
  return { above: (distance - 0.5) / deviation, below: (-distance - 0.5) / deviation, deviation }
}

/** The median of the means of all pairs of differences: the Hodges-Lehmann estimate of their centre. */
export function pseudoMedian(differences: Float64Array): number {
  const sorted = differences.toSorted()
  return medianDifference(sorted, mirrored(sorted)) / 2
}

/**
 * The centre that so many pairs of differences have their mean below: the k-th of their n (n + 1) / 2 means. Taken from all n^2
 * ordered pairs, in which each mean of two different ones stands twice.
 */
export function orderedMean(differences: Float64Array, k: number): number {
  const n = differences.length
  const sorted = differences.toSorted()
  const place = Math.floor((2 * k * n) / (n + 1))
  return orderedDifference(sorted, mirrored(sorted), Math.min(n * n, Math.max(1, place))) / 2
}

function mirrored(sorted: Float64Array): Float64Array {
  return sorted.map((value) => -value).reverse()
}
