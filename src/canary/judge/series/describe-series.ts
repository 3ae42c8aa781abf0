import type { SeriesStats } from './types.js'

/** Between these sizes squares and their sum stay inside the range of doubles. */
const PLAIN_SIZES = { least: 1e-120, most: 1e120 }

/**
 * Minimum, maximum, mean, standard deviation (n - 1) and number of values; all 0 without values.
 * Finite for finite values.
 */
export function describeSeries(values: ArrayLike<number>): SeriesStats {
  const count = values.length
  if (count === 0) return { min: 0, max: 0, mean: 0, std: 0, count }
  let [min, max] = [Infinity, -Infinity]
  for (let index = 0; index < count; index += 1) {
    const value = values[index] ?? 0
    if (value < min) min = value
    if (value > max) max = value
  }
  const scale = scaleOf(Math.max(Math.abs(min), Math.abs(max)))
  let sum = 0
  for (let index = 0; index < count; index += 1) sum += (values[index] ?? 0) / scale
  // The mean of equal values must be that value despite rounding.
  const scaledMean = min === max ? min / scale : sum / count
  let squares = 0
  for (let index = 0; index < count; index += 1) squares += ((values[index] ?? 0) / scale - scaledMean) ** 2
  const std = count > 1 ? Math.sqrt(squares / (count - 1)) * scale : 0
  const mean = min === max ? min : scaledMean * scale
  return { min, max, mean, std: Math.min(std, Number.MAX_VALUE), count }
}

/** The divisor of the values: 1 except for sizes near the ends of the range of doubles. */
function scaleOf(size: number): number {
  const isPlain = size === 0 || (size > PLAIN_SIZES.least && size < PLAIN_SIZES.most)
  return isPlain || !Number.isFinite(size) ? 1 : size
}
