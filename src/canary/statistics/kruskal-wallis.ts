import { rankSum } from './rank-sum.js'

/**
 * Kruskal and Wallis' statistic H of several samples: with equal distributions about chi-square
 * with one degree of freedom less than samples, times `inflation` if neighbouring values depend on
 * each other. Ties are corrected. 0 if all values are equal.
 */
export function kruskalWallis(samples: readonly Float64Array[], inflation: number): number {
  const total = samples.reduce((sum, { length }) => sum + length, 0)
  let [squares, ties] = [0, 0]
  samples.forEach((sample, index) => {
    const others = Float64Array.from(samples.flatMap((other, place) => (place === index ? [] : [...other])))
    const ranked = rankSum(sample.toSorted(), others.sort())
    ties = ranked.ties
    if (sample.length > 0) squares += (ranked.sum - (sample.length * (total + 1)) / 2) ** 2 / sample.length
  })
  const variance = (total * (total + 1)) / 12 - ties / (12 * (total - 1))
  return total > 1 && variance > 0 ? squares / variance / inflation : 0
}

/**
 * The quantile of chi-square at the normal deviate `z`, by Wilson and Hilferty's approximation
 * (1931): within 2 % from one degree of freedom on for z from 0 to 2.
 */
export function chiSquareQuantile(freedom: number, z: number): number {
  const c = 2 / (9 * freedom)
  return freedom * (1 - c + z * Math.sqrt(c)) ** 3
}
