const MAX_HALVINGS = 100

/**
 * The k-th smallest (from 1) of all differences x - y of two samples in ascending order, without
 * computing all of them. Halves the range of values until few differences are left between the
 * bounds, then walks through those. Memory is linear, and so is the time of each halving in n + m.
 */
export function orderedDifference(x: Float64Array, y: Float64Array, k: number): number {
  const enough = x.length + y.length
  // `low` is exclusive. `from` is its finite counterpart for halving.
  let low = -Infinity
  let high = (x.at(-1) ?? 0) - (y[0] ?? 0)
  let [atMostLow, atMostHigh] = [0, x.length * y.length]
  let from = (x[0] ?? 0) - (y.at(-1) ?? 0)
  for (let step = 0; step < MAX_HALVINGS && atMostHigh - atMostLow > enough; step += 1) {
    const middle = from + (high - from) / 2
    if (middle <= from || middle >= high) break
    const count = countUpTo(x, y, middle)
    if (count >= k) [high, atMostHigh] = [middle, count]
    else [low, from, atMostLow] = [middle, middle, count]
  }
  return differencesBetween(x, y, low, high, enough)?.[k - atMostLow - 1] ?? climb(x, y, k, low)
}

/** The median of all differences: the Hodges-Lehmann estimate of the shift of x against y. */
export function medianDifference(x: Float64Array, y: Float64Array): number {
  const count = x.length * y.length
  const lower = orderedDifference(x, y, Math.ceil(count / 2))
  const isMiddle = count % 2 === 1 || countUpTo(x, y, lower) > count / 2
  return isMiddle ? lower : (lower + nextDifference(x, y, lower)) / 2
}

/** Steps from `from` to each next distinct difference until k differences are covered. */
function climb(x: Float64Array, y: Float64Array, k: number, from: number): number {
  let value = nextDifference(x, y, from)
  while (countUpTo(x, y, value) < k && value < Infinity) value = nextDifference(x, y, value)
  return value
}

/** The smallest difference above a bound. */
function nextDifference(x: Float64Array, y: Float64Array, bound: number): number {
  let first = y.length
  let next = Infinity
  for (let index = x.length - 1; index >= 0; index -= 1) {
    const value = x[index] ?? 0
    while (first > 0 && value - (y[first - 1] ?? 0) <= bound) first -= 1
    if (first > 0) next = Math.min(next, value - (y[first - 1] ?? 0))
  }
  return next
}

function countUpTo(x: Float64Array, y: Float64Array, bound: number): number {
  let first = y.length
  let count = 0
  for (let index = x.length - 1; index >= 0; index -= 1) {
    const value = x[index] ?? 0
    while (first > 0 && value - (y[first - 1] ?? 0) <= bound) first -= 1
    count += y.length - first
  }
  return count
}

/**
 * The differences above `low` and up to `high`. Undefined if there are more than `most` (many equal
 * ones).
 */
function differencesBetween(
  x: Float64Array,
  y: Float64Array,
  low: number,
  high: number,
  most: number,
): Float64Array | undefined {
  const found: number[] = []
  let start = y.length
  for (let row = x.length - 1; row >= 0; row -= 1) {
    const value = x[row] ?? 0
    while (start > 0 && value - (y[start - 1] ?? 0) <= high) start -= 1
    for (let index = start; index < y.length; index += 1) {
      const difference = value - (y[index] ?? 0)
      if (difference <= low) break
      found.push(difference)
    }
    if (found.length > most) return undefined
  }
  return Float64Array.from(found).sort()
}
