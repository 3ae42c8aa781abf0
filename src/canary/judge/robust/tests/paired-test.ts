import { studentUpperQuantile, studentUpperTail } from '../../../statistics/student.js'
import { centredScores, dependence } from '../samples/autocorrelation.js'
import type { Dependence } from '../samples/autocorrelation.js'
import type { CleanSides } from '../samples/metric-tests.js'
import type { BoundErrors, Shift } from './shift-test.js'
import { medianDifference, orderedDifference } from '../../../statistics/ordered-difference.js'
import { noNumber } from '../../../statistics/walk-ties.js'

/** The points that both sides have at the same place in time. */
interface Pairing {
  /**
   * Experiment minus control; or, if both keep their ratio, the logarithm of the ratio times the
   * level.
   */
  readonly differences: Float64Array
  readonly dependence: Dependence
  /** The level that logarithms were multiplied with. */
  readonly ofRatios?: number
}

/** Fewer common points than this are not paired. */
const MIN_PAIRS = 20
/** Sides that move together by less do not gain from being paired. */
const MIN_CORRELATION = 0.5
/** Minimum distance of the correlation from 0, in standard errors. */
const CORRELATION_ERRORS = 3

/**
 * Pairs both sides by time if they move together, as they do when the same traffic reaches them.
 * The differences no longer contain the common movement, above all the time of day. Undefined if
 * they do not move together. Uses ratios if differences depend on time and ratios do so less: a
 * canary that is 15 % higher is further away when both sides are high. The choice depends on the
 * movements only, never on the shift.
 */
export function pairSides(sides: CleanSides, level: number, chanceErrors?: number): Pairing | undefined {
  const { control, experiment } = sides
  const common = commonPlaces(control.places, experiment.places)
  if (common.length < MIN_PAIRS) return undefined
  const together = correlation(common, control.scores.values, experiment.scores.values)
  if (together < MIN_CORRELATION || together * Math.sqrt(common.length) < CORRELATION_ERRORS) return undefined
  const pairBy = (difference: (x: number, y: number) => number): Pairing => {
    const differences = Float64Array.from(common, ({ inControl, inExperiment }) =>
      difference(experiment.values[inExperiment] ?? 0, control.values[inControl] ?? 0),
    )
    const places = Int32Array.from(common, ({ inControl }) => control.places[inControl] ?? 0)
    return { differences, dependence: dependence([centredScores(differences, places)], chanceErrors) }
  }
  const plain = pairBy((x, y) => x - y)
  const isPositive = Math.min(control.sorted[0] ?? 0, experiment.sorted[0] ?? 0) > 0
  if (plain.dependence.inflation === 1 || !isPositive) return plain
  const byRatio = pairBy((x, y) => level * Math.log(x / y))
  return byRatio.dependence.inflation < plain.dependence.inflation ? { ...byRatio, ofRatios: level } : plain
}

interface Common {
  readonly inControl: number
  readonly inExperiment: number
}

function commonPlaces(control: Int32Array, experiment: Int32Array): Common[] {
  const common: Common[] = []
  let inControl = 0
  experiment.forEach((place, inExperiment) => {
    while ((control[inControl] ?? Infinity) < place) inControl += 1
    if (control[inControl] === place) common.push({ inControl, inExperiment })
  })
  return common
}

/** The signed-rank test of the differences, with its estimate and interval. */
export function testPairs(
  { differences, dependence: { inflation, freedom }, ofRatios }: Pairing,
  errors: BoundErrors,
  cliffsDelta: number,
): Shift {
  const widening = Math.sqrt(inflation)
  const { above, below, deviation } = signedRank(differences)
  const means = (differences.length * (differences.length + 1)) / 2
  const rankOf = (error: number): number => {
    const reach = studentUpperQuantile(error, freedom) * widening * deviation
    return Math.max(1, Math.floor(means / 2 - reach - 0.5) + 1)
  }
  const inUnit = (difference: number): number =>
    ofRatios === undefined ? difference : ofRatios * Math.expm1(difference / ofRatios)
  return {
    pHigh: studentUpperTail(above / widening, freedom),
    pLow: studentUpperTail(below / widening, freedom),
    estimate: inUnit(pseudoMedian(differences)),
    interval: [
      inUnit(orderedMean(differences, rankOf(errors.lower))),
      inUnit(orderedMean(differences, means + 1 - rankOf(errors.upper))),
    ],
    cliffsDelta,
  }
}

function correlation(common: readonly Common[], control: Float64Array, experiment: Float64Array): number {
  let [both, ofControl, ofExperiment] = [0, 0, 0]
  for (const { inControl, inExperiment } of common) {
    const [x, y] = [experiment[inExperiment] ?? 0, control[inControl] ?? 0]
    both += x * y
    ofExperiment += x * x
    ofControl += y * y
  }
  return ofControl > 0 && ofExperiment > 0 ? both / Math.sqrt(ofControl * ofExperiment) : 0
}

/** How far differences lie above 0. */
interface SignedRank {
  /** Standardised, corrected for continuity: large when they are above. */
  readonly above: number
  readonly below: number
  /** The standard deviation of the sum of ranks. */
  readonly deviation: number
}

/**
 * Wilcoxon's test of differences about 0. Zero differences are dropped, and equal sizes share their
 * ranks.
 */
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

/**
 * The median of the means of all pairs of differences: the Hodges-Lehmann estimate of their centre.
 */
export function pseudoMedian(differences: Float64Array): number {
  const sorted = differences.toSorted()
  return medianDifference(sorted, mirrored(sorted)) / 2
}

/**
 * The k-th of the n (n + 1) / 2 means of pairs of differences. Taken from all n^2 ordered pairs, in
 * which each mean of two different values occurs twice.
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
