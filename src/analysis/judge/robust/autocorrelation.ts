/** A series about its own centre, with the places of its points in time. */
export interface CentredSeries {
  readonly values: Float64Array
  readonly places: Int32Array
}

/** How much neighbours in time are alike, and what that does to the evidence. */
export interface Dependence {
  /** Lag-1 autocorrelation over both sides, corrected for its bias; 0 when chance explains it. */
  readonly autocorrelation: number
  /** By how much dependence widens a variance: (1 + r) / (1 - r). */
  readonly inflation: number
  /** Degrees of freedom of that widening, which is itself an estimate. */
  readonly freedom: number
}

/** Below so many standard errors an autocorrelation counts as chance. */
const CHANCE_ERRORS = 1.64
/** No series is taken to be worth less than this share of its points. */
const MOST = 0.99
const LEAST_FREEDOM = 2

/**
 * The dependence within both sides together. The variance of ln((1 + r) / (1 - r)) is 4 / (N (1 - r^2)), which is that of a
 * chi-square with N (1 - r^2) / 2 degrees of freedom: tests that use the inflation take their quantiles from there.
 */
export function dependence(sides: readonly CentredSeries[]): Dependence {
  let [products, squares, pairs, points] = [0, 0, 0, 0]
  for (const side of sides) {
    const found = lagOne(side)
    products += found.products
    squares += found.squares
    pairs += found.pairs
    points += side.values.length
  }
  const perSide = points / sides.length
  const raw = pairs === 0 || squares === 0 ? 0 : products / pairs / (squares / points)
  // Kendall (1954): the estimate is too low by (1 + 3 r) / n.
  const corrected = Math.min(MOST, raw + (1 + 3 * raw) / perSide)
  const isChance = corrected * Math.sqrt(pairs) < CHANCE_ERRORS
  const r = isChance ? 0 : corrected
  return {
    autocorrelation: r,
    inflation: (1 + r) / (1 - r),
    freedom: Math.max(LEAST_FREEDOM, (points * (1 - r * r)) / 2),
  }
}

/** Every point on its own: what is known without looking at the order. */
export function independence(points: number): Dependence {
  return { autocorrelation: 0, inflation: 1, freedom: Math.max(LEAST_FREEDOM, points / 2) }
}

/** Values less their mean. */
export function centred(values: Float64Array, places: Int32Array): CentredSeries {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
  return { values: values.map((value) => value - mean), places }
}

/** The ranks of a series among themselves, about their centre: robust against spikes. */
export function centredRanks(values: Float64Array, places: Int32Array): CentredSeries {
  const order = Int32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const ranks = new Float64Array(values.length)
  for (let from = 0; from < order.length;) {
    let to = from
    const value = values[order[from] ?? 0]
    while (to < order.length && values[order[to] ?? 0] === value) to += 1
    for (let index = from; index < to; index += 1) ranks[order[index] ?? 0] = (from + to - 1) / 2
    from = to
  }
  return centred(ranks, places)
}

/** Only points that follow each other without a gap tell how alike neighbours are. */
function lagOne({ values, places }: CentredSeries): { products: number; squares: number; pairs: number } {
  let [products, squares, pairs] = [0, 0, 0]
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0
    squares += value * value
    if (index === 0 || (places[index] ?? 0) - (places[index - 1] ?? 0) !== 1) continue
    products += value * (values[index - 1] ?? 0)
    pairs += 1
  }
  return { products, squares, pairs }
}
