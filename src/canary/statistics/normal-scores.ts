import { roughNormalUpperQuantile } from './normal.js'
import { walkTies } from './walk-ties.js'

/** A bound is known to this share of the first width. */
const ACCURACY = 1e-3
const MAX_STEPS = 60
/** The least first step, as a share of the way between the bounds. */
const FIRST_SHARE = 1e-12

/**
 * Van der Waerden's test: the Mann-Whitney test with normal scores for ranks, fully efficient for
 * normal values.
 */
export interface NormalScoreTest {
  /**
   * The standardised sum of the first sample's scores after a downward shift. It falls as the shift
   * grows.
   */
  readonly at: (shift: number) => number
}

/** Prepares the test for two samples, each in ascending order. */
export function normalScoreTest(first: Float64Array, second: Float64Array): NormalScoreTest {
  const scores = scoresOfRanks(first.length + second.length)
  return { at: (shift) => standardised(first, second, shift, scores) }
}

/**
 * The shift at which the test reaches a level. The search starts at `guess` and steps by `width`
 * until it brackets the level, but no further than the bounds, beyond which the test is constant.
 */
export function shiftAtLevel(
  { at }: NormalScoreTest,
  level: number,
  [least, most]: readonly [number, number],
  guess: number,
  width: number,
): number {
  const pointAt = (x: number): Point => ({ x, y: at(x) - level })
  let low = pointAt(Math.min(most, Math.max(least, guess)))
  let high = low
  // No width at all would never reach anything.
  const first = Math.max(width, (most - least) * FIRST_SHARE, Number.MIN_VALUE)
  for (let reach = first; low.y <= 0; reach *= 2) {
    if (low.x <= least) return least
    high = low
    low = pointAt(Math.max(least, low.x - reach))
  }
  for (let reach = first; high.y > 0; reach *= 2) {
    if (high.x >= most) return most
    low = high
    high = pointAt(Math.min(most, high.x + reach))
  }
  return narrow(pointAt, low, high, width * ACCURACY)
}

interface Point {
  readonly x: number
  readonly y: number
}

/**
 * Halves the distance between two points of different sign, or takes the straight line if that is
 * nearer (the Illinois method).
 */
function narrow(pointAt: (x: number) => Point, from: Point, to: Point, accuracy: number): number {
  let [low, high, atLow, atHigh] = [from.x, to.x, from.y, to.y]
  let wasAbove: boolean | undefined
  for (let step = 1; step < MAX_STEPS && high - low > accuracy; step += 1) {
    const line = low + ((high - low) * atLow) / (atLow - atHigh)
    const { x, y } = pointAt(step % 3 === 0 ? low + (high - low) / 2 : line)
    // A bound that stays twice gets less weight; otherwise the line would never approach it.
    const stays = y > 0 === wasAbove
    wasAbove = y > 0
    if (wasAbove) [low, atLow, atHigh] = [x, y, stays ? atHigh / 2 : atHigh]
    else [high, atHigh, atLow] = [x, y, stays ? atLow / 2 : atLow]
  }
  return low + (high - low) / 2
}

/**
 * The scores of all ranks of `count` values, indexed by twice the rank so that shared ranks have
 * one too.
 */
function scoresOfRanks(count: number): Float64Array {
  const scores = new Float64Array(2 * count + 1)
  for (let doubled = 2; doubled <= count + 1; doubled += 1) {
    const score = roughNormalUpperQuantile(doubled / (2 * (count + 1)))
    scores[doubled] = -score
    scores[2 * count + 2 - doubled] = score
  }
  if (count > 0) scores[count + 1] = 0
  return scores
}

/**
 * The normal score of each value among `sorted`, which has all values in ascending order. Equal
 * values share the score of their mean rank.
 */
export function scoresAmong(sorted: Float64Array, values: Float64Array): Float64Array {
  const scores = scoresOfRanks(sorted.length)
  const inOrder = new Float64Array(sorted.length)
  for (let from = 0; from < sorted.length;) {
    let to = from + 1
    while (to < sorted.length && sorted[to] === sorted[from]) to += 1
    inOrder.fill(scores[from + to + 1] ?? 0, from, to)
    from = to
  }
  return values.map((value) => inOrder[countBelow(sorted, value)] ?? 0)
}

function countBelow(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < bound) low = middle + 1
    else high = middle
  }
  return low
}

function standardised(
  first: Float64Array,
  second: Float64Array,
  shift: number,
  scores: Float64Array,
): number {
  const [n, m] = [first.length, second.length]
  let [ofFirst, all, squares] = [0, 0, 0]
  walkTies(first, second, shift, (before, equal, fromFirst) => {
    const score = scores[2 * before + equal + 1] ?? 0
    ofFirst += fromFirst * score
    all += equal * score
    squares += equal * score * score
  })
  const mean = all / (n + m)
  const variance = ((n * m) / ((n + m) * (n + m - 1))) * (squares - (n + m) * mean * mean)
  return variance > 0 ? (ofFirst - n * mean) / Math.sqrt(variance) : 0
}
