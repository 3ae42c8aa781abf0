import type { SeriesStats } from './types.js'

/** Least, greatest, mean, standard deviation (n - 1) and number of values; all 0 of none. */
export function describeSeries(values: ArrayLike<number>): SeriesStats {
  const count = values.length
  if (count === 0) return { min: 0, max: 0, mean: 0, std: 0, count }
  let [min, max, sum] = [Infinity, -Infinity, 0]
  for (let index = 0; index < count; index += 1) {
    const value = values[index] ?? 0
    if (value < min) min = value
    if (value > max) max = value
    sum += value
  }
  // A mean of equal values must be that value, whatever rounding made of the sum.
  const mean = min === max ? min : sum / count
  let squares = 0
  for (let index = 0; index < count; index += 1) squares += ((values[index] ?? 0) - mean) ** 2
  return { min, max, mean, std: count > 1 ? Math.sqrt(squares / (count - 1)) : 0, count }
}
