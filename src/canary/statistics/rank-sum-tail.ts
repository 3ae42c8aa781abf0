import { normalUpperQuantile } from './normal.js'
import { rankSum, rankSumVariance } from './rank-sum.js'
import type { RankSum } from './rank-sum.js'

/** Maximum total number of values for which all rank assignments are counted. */
export const EXACT_UP_TO = 50

/**
 * The distance of the first sample above the second, as normal scores whose tails are the p-values
 * of each direction.
 */
export interface RankShift {
  /** The score of "above": large when the first sample is above. */
  readonly above: number
  readonly below: number
  /** P(first > second) - P(first < second): Cliff's delta. */
  readonly cliffsDelta: number
  /** The standard deviation of the number of pairs with the first value above the second. */
  readonly deviation: number
}

/**
 * The Mann-Whitney test of both directions. Exact for small samples, ties included. Both samples in
 * ascending order.
 */
export function rankShift(first: Float64Array, second: Float64Array): RankShift {
  const ranks = rankSum(first, second)
  const shift = normalShift(ranks, first.length, second.length)
  if (!(shift.deviation > 0) || first.length + second.length > EXACT_UP_TO) return shift
  const { atLeast, atMost } = exactTails(first, second, ranks.sum)
  return { ...shift, above: normalUpperQuantile(atLeast), below: normalUpperQuantile(atMost) }
}

/** The Mann-Whitney test by the normal distribution, for samples of any sizes `n` and `m`. */
export function normalShift({ sum, ties }: RankSum, n: number, m: number): RankShift {
  const deviation = Math.sqrt(rankSumVariance(n, m, ties))
  if (!(deviation > 0)) return { above: 0, below: 0, cliffsDelta: 0, deviation: 0 }
  const distance = sum - (n * (n + m + 1)) / 2
  return {
    above: (distance - 0.5) / deviation,
    below: (-distance - 0.5) / deviation,
    cliffsDelta: (2 * distance) / (n * m),
    deviation,
  }
}

/**
 * P(rank sum >= sum) and P(rank sum <= sum) over all choices of n ranks, by dynamic programming on
 * doubled ranks.
 */
function exactTails(
  first: Float64Array,
  second: Float64Array,
  sum: number,
): { atLeast: number; atMost: number } {
  const ranks = doubledRanks(first, second)
  const picked = first.length
  const total = ranks.reduce((all, rank) => all + rank, 0)
  const width = total + 1
  const ways = Array.from({ length: picked + 1 }, () => new Float64Array(width))
  const none = ways[0]
  if (none !== undefined) none[0] = 1
  let reach = 0
  ranks.forEach((rank, index) => {
    reach += rank
    for (let count = Math.min(index + 1, picked); count >= 1; count -= 1) {
      const [fewer, more] = [ways[count - 1], ways[count]]
      if (fewer === undefined || more === undefined) continue
      for (let at = reach; at >= rank; at -= 1) more[at] = (more[at] ?? 0) + (fewer[at - rank] ?? 0)
    }
  })
  const row = ways[picked] ?? new Float64Array()
  const observed = Math.round(2 * sum)
  const sumOf = (values: Float64Array): number => values.reduce((all, value) => all + value, 0)
  const all = sumOf(row)
  return { atLeast: sumOf(row.subarray(observed)) / all, atMost: sumOf(row.subarray(0, observed + 1)) / all }
}

/** Twice the ranks, so that shared ones are whole numbers too. */
function doubledRanks(first: Float64Array, second: Float64Array): number[] {
  const all = Float64Array.from([...first, ...second]).sort()
  const ranks: number[] = []
  for (let from = 0; from < all.length;) {
    let to = from
    while (to < all.length && all[to] === all[from]) to += 1
    for (let index = from; index < to; index += 1) ranks.push(from + to + 1)
    from = to
  }
  return ranks
}
