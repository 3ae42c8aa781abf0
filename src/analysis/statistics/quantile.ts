/** The quantile by linear interpolation of values in ascending order; NaN of none. */
export function sortedQuantile(sorted: ArrayLike<number>, quantile: number): number {
  const place = (sorted.length - 1) * quantile
  const below = Math.floor(place)
  const low = sorted[below] ?? Number.NaN
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN
  const share = place - below
  const distance = high - low
  return Number.isFinite(distance) ? low + distance * share : low * (1 - share) + high * share
}
