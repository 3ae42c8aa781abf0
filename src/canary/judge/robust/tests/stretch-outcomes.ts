import { percent, short } from '../../../../lib/text/number-text.js'
import type { MetricSpec, TestOutcome } from '../../series/types.js'
import { baselineLevel } from '../samples/baseline-level.js'
import { marginsOf } from '../samples/margins.js'
import { harmfulSigns, weighted } from '../samples/metric-tests.js'
import type { CleanSides } from '../samples/metric-tests.js'
import type { RobustSettings } from '../samples/settings.js'
import { fisherExact } from '../../../statistics/fisher-exact.js'
import { scoresAmong } from '../../../statistics/normal-scores.js'
import { normalUpperQuantile } from '../../../statistics/normal.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { studentUpperTail } from '../../../statistics/student.js'
import { centred, dependence, NO_CHANCE } from '../samples/autocorrelation.js'
import { endOf } from '../samples/clean-side.js'
import type { CleanSide } from '../samples/clean-side.js'
import { isMostlyZero } from '../samples/kind-of-values.js'
import { pointsOf, whenOf } from '../samples/when.js'
import { CHANCE_ERRORS, pooledOrder } from './tail-test.js'

/**
 * The error of the search for stretches, as a share of the metric's error, for all directions
 * together.
 */
const SHARE = 0.1
/**
 * Minimum size of a stretch in margins: it is shorter than the window, and was found by a search.
 */
const MIN_MARGINS = 2

/**
 * Length in points and relative change of a start that no cold cache explains, so that it needs a
 * review. Errors at a start need one sooner.
 */
export const PLAIN_START = { points: 5, change: 4 }
const PLAIN_START_OF_EVENTS = { points: 4, change: 2 }

/**
 * Stretches in which the canary is away from its baseline, one for each harmful direction. If
 * events are counted by points, several in a row may be one event, so a stretch proves nothing; it
 * proves nothing before the last interval either.
 */
export function stretchOutcomes(
  sides: CleanSides,
  spec: MetricSpec,
  settings: RobustSettings,
  proves: boolean,
  scoredBy = sides,
): TestOutcome[] {
  const level = baselineLevel(sides.control.sorted)
  const margins = marginsOf(spec, settings)
  const signs = harmfulSigns(spec.direction).filter((sign) => proves || sign > 0)
  return furthestStretches(sides, signs, scoredBy).map(({ sign, from, to, isLast, isWarmUp, change, p }) => {
    const margin = sign > 0 ? margins.increase : margins.decrease
    const plain = proves ? PLAIN_START : PLAIN_START_OF_EVENTS
    const isStart = isWarmUp && (to < plain.points || change < plain.change * level)
    const advice = from === 0 && !isLast ? '. Set warmUpMinutes to leave a start out' : ''
    const stretch = pointsOf(sides.experiment, from, to)
    const where = whenOf(sides.experiment, stretch, isLast)
    const isLarge = change > MIN_MARGINS * margin * level
    const away = level > 0 ? `${percent((sign * change) / level)} of the baseline` : short(sign * change)
    return {
      test: 'stretch',
      change: sign > 0 ? 'High' : 'Low',
      // A start that differs is a warm-up.
      p: proves && settings.later === undefined && from > 0 ? weighted(p, SHARE / signs.length) : 1,
      pAlone: Math.min(1, p * signs.length),
      matters: isLarge && !isStart,
      ...(isLarge && isStart && { isWarmUp }),
      size: level > 0 ? change / level : null,
      stretch,
      says: `From ${where} the canary differs from its baseline: the typical value there changed by ${away}${advice}`,
    }
  })
}

/** A stretch of the canary's window with values away from the baseline's. */
interface Stretch {
  /** Above (1) or below (-1) the baseline. */
  readonly sign: 1 | -1
  /** The places of its first point and after its last point. */
  readonly from: number
  readonly to: number
  readonly isLast: boolean
  /** Whether it is a start that is short enough for a warm-up. */
  readonly isWarmUp: boolean
  /** Over all stretches that were looked at. */
  readonly p: number
  /** How far its typical value is from the baseline's, in the metric's unit; not negative. */
  readonly change: number
}

const MIN_POINTS = 3
/** Only the baseline gives the dependence in time, with this number of standard errors added. */
const CAUTION_ERRORS = 1.3
/** Ratio from one tried length to the next. */
const GROWTH = 1.4
/** Number of starts tried within the length of a stretch. */
const STARTS = 4
/** Minimum share of a stretch that has points. */
const KNOWN_SHARE = 0.6
/**
 * Share of a change that the baseline must show at the same time for the change not to be the
 * canary's.
 */
const COMMON_SHARE = 0.5
const WARM_UP_SHARE = 0.2

/**
 * The stretches furthest above and below the baseline: steps, ramps, bursts and outages that a test
 * of the whole window misses. `scoredBy` has the score of each point. Half of the error goes to
 * stretches that last until the end of the window. Returns one stretch for each direction, or two
 * if the furthest is a warm-up, which must not hide a later one.
 */
function furthestStretches(
  sides: CleanSides,
  signs: readonly (1 | -1)[],
  scoredBy: CleanSides,
): readonly Stretch[] {
  const scored = scoreSides(scoredBy)
  const { experiment, control } = sides
  const points = Math.max(endOf(experiment), endOf(control))
  const x = runningSums(experiment, scored.experiment, points)
  const y = runningSums(control, scored.control, points)
  const usual = average(scored.control)
  const warmUp = WARM_UP_SHARE * points
  const furthest = (sign: 1 | -1, start: number): readonly Stretch[] => {
    const search = { x, y, usual: sign * usual, sign, points, start, statisticOf: scored.statisticOf }
    const best = [searchStretch(search, true), searchStretch(search, false)]
      .map(({ statistic, count, ...where }) => ({
        ...where,
        p: Math.min(1, 2 * count * scored.pOf(statistic)),
      }))
      .reduce((a, b) => (b.p < a.p ? b : a))
    if (best.p >= 1) return []
    const typicalThere = typical(experiment, best.from, best.to)
    const change = Math.max(0, sign * (typicalThere - sortedQuantile(control.sorted, 0.5)))
    const isWarmUp = best.from === 0 && best.to <= warmUp
    const stretch = { sign, ...best, isLast: best.to === points, isWarmUp, change }
    return isWarmUp ? [stretch, ...furthest(sign, warmUp)] : [stretch]
  }
  return signs.flatMap((sign) => furthest(sign, 0))
}

interface Search {
  readonly x: RunningSums
  readonly y: RunningSums
  /** The mean score of the baseline. */
  readonly usual: number
  readonly sign: 1 | -1
  readonly points: number
  /** The first point of the search. */
  readonly start: number
  readonly statisticOf: Scored['statisticOf']
}

interface Searched {
  from: number
  to: number
  statistic: number
  /** How many were looked at. */
  count: number
}

/**
 * The stretch with the largest statistic, among those that last until the end of the window or
 * among the others.
 */
function searchStretch({ x, y, usual, sign, points, start, statisticOf }: Search, isLast: boolean): Searched {
  const best: Searched = { from: 0, to: 0, statistic: -Infinity, count: 0 }
  for (let length = MIN_POINTS; length <= points / 2; length = Math.ceil(length * GROWTH)) {
    const step = Math.max(1, Math.floor(length / STARTS))
    const last = isLast ? points : points - step
    for (let to = last; to >= (isLast ? points : length); to -= step) {
      const from = to - length
      best.count += 1
      if (from < start) continue
      const count = countIn(x, from, to)
      if (count < Math.max(MIN_POINTS, KNOWN_SHARE * length)) continue
      const sum = sign * sumIn(x, from, to)
      const excess = sum / count - usual
      if (!(excess > 0)) continue
      const statistic = statisticOf(sum, count, usual)
      if (statistic <= best.statistic) continue
      const other = countIn(y, from, to)
      const common = other === 0 ? 0 : (sign * sumIn(y, from, to)) / other - usual
      if (common <= COMMON_SHARE * excess) Object.assign(best, { from, to, statistic })
    }
  }
  return best
}

interface Scored {
  readonly control: Float64Array
  readonly experiment: Float64Array
  /** Grows with the distance of the sum of `count` scores from the usual sum. */
  readonly statisticOf: (sum: number, count: number, usual: number) => number
  /** The chance of a statistic at least as large, if the points are like the baseline's. */
  readonly pOf: (statistic: number) => number
}

function scoreSides(sides: CleanSides): Scored {
  const isSeldom = isMostlyZero(sides.control) || isMostlyZero(sides.experiment)
  return isSeldom ? scoreByOccurrence(sides) : scoreByRank(sides)
}

/**
 * Scores by the normal scores of the ranks among all values. The dependence in time is the
 * baseline's, which no change of the canary affects.
 */
function scoreByRank(sides: CleanSides): Scored {
  const pooled = pooledOrder(sides)
  const control = scoresAmong(pooled, sides.control.values)
  const experiment = scoresAmong(pooled, sides.experiment.values)
  const mean = average(control)
  const squares = control.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  const { inflation, freedom } = dependence([sides.control.scores], NO_CHANCE, CAUTION_ERRORS)
  const variance = (inflation * squares) / Math.max(1, control.length - 1)
  const statisticOf = (sum: number, count: number, usual: number): number =>
    variance > 0 ? (sum / count - usual) / Math.sqrt(variance * (1 / count + 1 / control.length)) : -Infinity
  const pOf = (statistic: number): number =>
    statistic === -Infinity ? 1 : studentUpperTail(statistic, Math.min(freedom, control.length - 1))
  return { control, experiment, statisticOf, pOf }
}

/** The least statistic of occurrences: as many or more are certain. */
const SURELY_CHANCE = -1

/**
 * Scores of mostly-zero values: by the number of other points, with the bursts of the baseline as
 * their dependence in time.
 */
function scoreByOccurrence(sides: CleanSides): Scored {
  const marksOf = ({ values }: CleanSide): Float64Array => values.map((value) => (value === 0 ? 0 : 1))
  const [control, experiment] = [marksOf(sides.control), marksOf(sides.experiment)]
  const before = control.reduce((sum, mark) => sum + mark, 0)
  const known = new Map<number, number>()
  const statisticOf = (sum: number, count: number, usual: number): number => {
    // A fall has a negative sum. Among values that are mostly 0, a stretch with fewer others shows
    // nothing.
    if (usual < 0) return SURELY_CHANCE
    const key = sum * (experiment.length + 1) + count
    const statistic =
      known.get(key) ??
      -fisherExact({
        ...{ canaryEvents: sum, canaryOthers: count - sum },
        ...{ baselineEvents: before, baselineOthers: control.length - before },
      }).greater
    known.set(key, statistic)
    return statistic
  }
  const { inflation, freedom } = dependence([centred(control, sides.control.places)], CHANCE_ERRORS)
  const pOf = (statistic: number): number =>
    inflation > 1 && -statistic < 0.5
      ? studentUpperTail(normalUpperQuantile(-statistic) / Math.sqrt(inflation), freedom)
      : Math.min(1, -statistic)
  return { control, experiment, statisticOf, pOf }
}

interface RunningSums {
  readonly sums: Float64Array
  readonly counts: Int32Array
}

function runningSums({ places }: CleanSide, scores: Float64Array, points: number): RunningSums {
  const [sums, counts] = [new Float64Array(points + 1), new Int32Array(points + 1)]
  places.forEach((place, index) => {
    sums[place + 1] = scores[index] ?? 0
    counts[place + 1] = 1
  })
  for (let place = 1; place <= points; place += 1) {
    sums[place] = (sums[place] ?? 0) + (sums[place - 1] ?? 0)
    counts[place] = (counts[place] ?? 0) + (counts[place - 1] ?? 0)
  }
  return { sums, counts }
}

function sumIn({ sums }: RunningSums, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0)
}

function countIn({ counts }: RunningSums, from: number, to: number): number {
  return (counts[to] ?? 0) - (counts[from] ?? 0)
}

function typical({ values, places }: CleanSide, from: number, to: number): number {
  return sortedQuantile(
    values.filter((_, index) => (places[index] ?? 0) >= from && (places[index] ?? 0) < to).toSorted(),
    0.5,
  )
}

function average(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
