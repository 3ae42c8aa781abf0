import { sortedQuantile } from '../../../statistics/quantile.js'
import { dependence, NO_CHANCE } from './autocorrelation.js'
import type { CleanSide } from './clean-side.js'
import { cleanPoints, endOf } from './clean-side.js'
import type { CleanSides } from './metric-tests.js'

/** The longest windows that are detected, in points. */
const MAX_POINTS = 30
/** Minimum length of a side in windows for its pattern to be used. */
const MIN_WINDOWS = 4
/**
 * Differences one window apart have a correlation of -1/2. Only a correlation below this value can
 * be such a pattern.
 */
const MIN_PATTERN = -0.3
/** How far below 0 that correlation must be, in standard errors. */
const PATTERN_ERRORS = 3.5
/** A step or a burst must not pass for the pattern of windows. */
const MAX_IN_MEDIANS = 2.5
/**
 * Differences of independent points have a correlation of -1/2 from one to the next. Below this
 * value, windows do not overlap.
 */
const INDEPENDENT = -0.35
/** Minimum correlation of the two sides for them to count as moving together. */
const MIN_LIKENESS = 0.5
/** A higher correlation at any lag is a cycle and not the pattern of windows. */
const MAX_ELSEWHERE = 0.5
/**
 * Minimum autocorrelation, as a share of the 1 - 1/overlap that neighbours have if their windows
 * share all points but one. Spikes have less.
 */
const MIN_SHARED = 0.5

/**
 * A query such as `rate(x[5m])` at steps of one minute makes each point share four of its five
 * minutes with the next. This returns the number of points in one such window, detected from the
 * pattern of the values; 1 if windows do not overlap.
 */
export function overlapOf({ control, experiment }: CleanSides): number {
  const sides = [control, experiment].map(differences)
  const points = Math.min(control.values.length, experiment.values.length)
  const most = Math.min(MAX_POINTS, Math.floor(points / MIN_WINDOWS))
  if (correlationAt(sides, 1).value < INDEPENDENT) return 1
  const together = likeness(sides)
  // Sides that move together add less evidence.
  const alike = together < MIN_LIKENESS ? 1 : 1 + together ** 2
  let [overlap, least] = [1, MIN_PATTERN]
  for (let lag = 2; lag <= most; lag += 1) {
    const { value, pairs } = correlationAt(sides, lag)
    // A cycle comes back.
    if (value > MAX_ELSEWHERE) return 1
    if (value < least && value * Math.sqrt(pairs / alike) < -PATTERN_ERRORS) [overlap, least] = [lag, value]
  }
  const { autocorrelation } = dependence([control.scores, experiment.scores], NO_CHANCE, 0)
  return autocorrelation < MIN_SHARED * (1 - 1 / overlap) ? 1 : overlap
}

/** Minimum share of steps at which a value stays the same. */
const HELD_SHARE = 0.5
/** Minimum share of changes that lead to a new value. */
const DISTINCT_SHARE = 0.8
const MIN_CHANGES = 4
/**
 * Maximum time that a value stays, as a multiple of the usual time, for values to be produced at
 * regular times. Otherwise no choice of points is independent.
 */
const MAX_UNEVEN = 2

/**
 * The number of points that each value lasts, if both sides repeat values because they are sampled
 * more often than produced; otherwise 1.
 */
export function heldFor({ control, experiment }: CleanSides): number {
  return Math.min(...[control, experiment].map(pointsHeld))
}

/** Minimum number of different values for copies to be told from values of few sizes. */
const MIN_DIFFERENT = 8
/** Maximum ratio of how often values occur, for copies of all points. */
const MAX_UNEVEN_COPIES = 1.5

/**
 * The side without points that a source delivered several times, such as one series under two
 * names: if all values occur about equally often, more than once, each counts once. Values that
 * last for several points in a row are left to `heldFor`. Whole numbers may repeat by themselves.
 */
export function withoutCopies(side: CleanSide): CleanSide {
  const { values } = side
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const times = [...counts.values()]
  const isCopied =
    times.length >= MIN_DIFFERENT &&
    !values.every(Number.isInteger) &&
    Math.min(...times) > 1 &&
    Math.max(...times) <= MAX_UNEVEN_COPIES * Math.min(...times)
  if (!isCopied || side.hasExposure || pointsHeld(side) > 1) return side
  const seen = new Set<number>()
  const first = [...values.keys()].filter((at) => {
    const value = values[at] ?? 0
    return seen.size < seen.add(value).size
  })
  return cleanPoints({
    values: Float64Array.from(first, (at) => values[at] ?? 0),
    places: Int32Array.from(first, (at) => side.places[at] ?? 0),
    exposure: Float64Array.from(first, (at) => side.exposure[at] ?? 1),
    hasExposure: side.hasExposure,
    clock: side.clock,
  })
}

function pointsHeld({ values }: CleanSide): number {
  const changes = [...values.keys()].filter((at) => at === 0 || values[at] !== values[at - 1])
  const isHeld = changes.length <= (1 - HELD_SHARE) * values.length + 1
  const isNew = new Set(changes.map((at) => values[at])).size >= DISTINCT_SHARE * changes.length
  if (!isHeld || !isNew || changes.length < MIN_CHANGES) return 1
  const held = Math.round(values.length / changes.length)
  const longest = changes.reduce(
    (most, at, index) => Math.max(most, (changes[index + 1] ?? values.length) - at),
    0,
  )
  return longest < MAX_UNEVEN * held ? held : 1
}

/** Every `overlap`-th point, counted back from the last: points whose windows do not overlap. */
export function withoutOverlap(side: CleanSide, overlap: number): CleanSide {
  const last = side.places.at(-1) ?? 0
  const isKept = (place: number): boolean => (last - place) % overlap === 0
  const kept = [...side.places.keys()].filter((index) => isKept(side.places[index] ?? 0))
  return cleanPoints({
    values: Float64Array.from(kept, (index) => side.values[index] ?? 0),
    places: Int32Array.from(kept, (index) => Math.floor((side.places[index] ?? 0) / overlap)),
    exposure: Float64Array.from(kept, (index) => side.exposure[index] ?? 1),
    hasExposure: side.hasExposure,
    clock: side.clock && { ...side.clock, pointsPerPlace: overlap, firstPoint: last % overlap },
  })
}

/**
 * Differences between consecutive points, at the place of the second one; NaN elsewhere. Jumps are
 * cut to the usual range.
 */
function differences({ values, places }: CleanSide): Float64Array {
  const all = new Float64Array(endOf({ places })).fill(Number.NaN)
  for (let index = 1; index < values.length; index += 1) {
    const place = places[index] ?? 0
    if (place - (places[index - 1] ?? 0) === 1) all[place] = (values[index] ?? 0) - (values[index - 1] ?? 0)
  }
  const sizes = all
    .filter((value) => !Number.isNaN(value))
    .map(Math.abs)
    .sort()
  const reach = MAX_IN_MEDIANS * sortedQuantile(sizes, 0.5)
  return all.map((value) => Math.max(-reach, Math.min(reach, value)))
}

/** The correlation of both sides' differences: sides that move together say one thing twice. */
function likeness([one, other]: readonly Float64Array[]): number {
  let [products, ofOne, ofOther] = [0, 0, 0]
  one?.forEach((x, place) => {
    const y = other?.[place] ?? Number.NaN
    if (Number.isNaN(x) || Number.isNaN(y)) return
    products += x * y
    ofOne += x * x
    ofOther += y * y
  })
  return products === 0 ? 0 : products / Math.sqrt(ofOne * ofOther)
}

/** The correlation over both sides. The mean of differences is 0, whatever the level is. */
function correlationAt(
  sides: readonly Float64Array[],
  lag: number,
): { readonly value: number; readonly pairs: number } {
  let [products, squares, pairs] = [0, 0, 0]
  for (const side of sides) {
    for (let place = lag; place < side.length; place += 1) {
      const [now, before] = [side[place] ?? Number.NaN, side[place - lag] ?? Number.NaN]
      if (Number.isNaN(now) || Number.isNaN(before)) continue
      products += now * before
      squares += (now * now + before * before) / 2
      pairs += 1
    }
  }
  return { value: squares > 0 ? products / squares : 0, pairs }
}
