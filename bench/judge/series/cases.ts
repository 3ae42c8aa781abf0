import type { Random } from '../generate-pairs.js'
import type { RecordedSeries } from './load.js'

/** Both sides of one comparison. */
export interface RecordedPair {
  readonly series: string
  readonly control: Float64Array
  readonly experiment: Float64Array
  /** Whether `control` is of another time than `experiment`. */
  readonly isOfAnotherTime?: true
  /** The same hour of several earlier days, if they are the baseline; `control` is the latest. */
  readonly times?: readonly Float64Array[]
}

/** A row of the table: its pairs, and the verdict that is counted. */
export interface Case {
  readonly name: string
  readonly counted: 'Success' | 'Review' | 'Fail'
  /** Maximum share of the counted verdict, in per cent. */
  readonly limit: number
  readonly pairs: readonly RecordedPair[]
}

const POINTS = 60
/** Windows of one family, spread over its length. */
const WINDOWS = 25
const WEEK_DAYS = 7
const EARLIER_TIMES = 4
/** Lag-1 autocorrelation and range, as a share of the level, of a slow series. */
const SLOW = { autocorrelation: 0.7, range: 0.01 }
const MIN_ANOMALIES = 3
/** Larger values are taken for measurements. */
const MAX_EVENTS = 10_000

/** The rows of the table for these series. */
export function casesOf(series: readonly RecordedSeries[], random: Random): Case[] {
  const same = concurrentPairs(series)
  const changed = (change: (value: number, place: number) => number): readonly RecordedPair[] =>
    same
      .map((pair) => ({ ...pair, experiment: pair.experiment.map(change) }))
      .filter(({ experiment }, index) => isOther(experiment, same[index]?.experiment))
  const slow = same.filter(({ control, experiment }) => isSlow(control) && isSlow(experiment, control[0]))
  const later = (times: number, factor: number): readonly RecordedPair[] =>
    series
      .flatMap((one) => sameHourPairs(one, 1, times))
      .map((pair) => ({ ...pair, experiment: pair.experiment.map((value) => factor * value) }))
      .filter(({ experiment }) =>
        isOther(
          experiment,
          experiment.map(() => 0),
        ),
      )
  const daysApart = (days: number): readonly RecordedPair[] =>
    series.flatMap((one) => sameHourPairs(one, days))
  return [
    { name: 'concurrent A/A', counted: 'Fail', limit: 1, pairs: same },
    { name: 'concurrent A/A', counted: 'Review', limit: 5, pairs: same },
    {
      name: 'x5 in 10 % of points',
      ...{ counted: 'Success', limit: 30 },
      pairs: changed((value) => (random.uniform() < 0.1 ? 5 * value : value)),
    },
    {
      name: 'x2 in the last third',
      ...{ counted: 'Success', limit: 15 },
      pairs: changed((value, place) => (place >= (2 * POINTS) / 3 ? 2 * value : value)),
    },
    { name: 'halved', counted: 'Success', limit: 5, pairs: changed((value) => value / 2) },
    {
      name: 'every other event of whole numbers',
      ...{ counted: 'Success', limit: 100, pairs: changed((value) => thinned(value, random)) },
    },
    {
      name: 'labelled anomalies',
      ...{ counted: 'Success', limit: 25 },
      pairs: series.flatMap(anomalousPairs),
    },
    { name: 'slow, all within 1 %', counted: 'Review', limit: 15, pairs: slow },
    { name: 'same hour of the day before', counted: 'Fail', limit: 8, pairs: daysApart(1) },
    { name: 'same hour a week before', counted: 'Fail', limit: 8, pairs: daysApart(WEEK_DAYS) },
    { name: 'same hour of the 4 days before', counted: 'Fail', limit: 8, pairs: later(EARLIER_TIMES, 1) },
    { name: 'x1.5 against the day before', counted: 'Success', limit: 100, pairs: later(1, 1.5) },
    {
      name: 'x1.5 against the 4 days before',
      ...{ counted: 'Success', limit: 100, pairs: later(EARLIER_TIMES, 1.5) },
    },
    { name: 'x2 against the day before', counted: 'Success', limit: 100, pairs: later(1, 2) },
    {
      name: 'x2 against the 4 days before',
      ...{ counted: 'Success', limit: 100, pairs: later(EARLIER_TIMES, 2) },
    },
  ]
}

/**
 * Windows of two instances at the same time. A series without another instance gives its even and
 * its odd points.
 */
function concurrentPairs(series: readonly RecordedSeries[]): RecordedPair[] {
  const families = Map.groupBy(series, ({ family }) => family)
  return [...families].flatMap(([family, members]) => {
    const [one, other] = members
    if (one === undefined) return []
    const length = Math.min(...members.map(({ values }) => values.length))
    const isAlone = other === undefined
    const clean = (start: number, points: number): boolean =>
      members.every(({ isAnomaly }) => !isAnomaly.slice(start, start + points).includes(true))
    return windows(length, isAlone ? 2 * POINTS : POINTS)
      .filter((start) => clean(start, isAlone ? 2 * POINTS : POINTS))
      .map((start, index) => {
        if (isAlone) return { series: family, ...evenAndOdd(one.values, start) }
        const sides = [one, other].map(({ values }) => values.slice(start, start + POINTS))
        const [control = sides[0], experiment = sides[1]] = index % 2 === 0 ? sides : sides.toReversed()
        return { series: family, control: control ?? one.values, experiment: experiment ?? other.values }
      })
  })
}

function evenAndOdd(
  values: Float64Array,
  start: number,
): { readonly control: Float64Array; readonly experiment: Float64Array } {
  const every = (first: number): Float64Array =>
    Float64Array.from({ length: POINTS }, (_, index) => values[start + first + 2 * index] ?? 0)
  return { control: every(0), experiment: every(1) }
}

function windows(length: number, points: number): number[] {
  const last = length - points
  if (last < 0) return []
  const step = Math.max(points, Math.floor(last / WINDOWS))
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, index) => index * step)
}

function sameHourPairs(
  { name, values, isAnomaly, perDay }: RecordedSeries,
  days: number,
  times = 1,
): RecordedPair[] {
  if (perDay === undefined) return []
  // The furthest time.
  const back = times * days * perDay
  const placesOf = (start: number): number[] =>
    Array.from({ length: times + 1 }, (_, time) => start + time * days * perDay)
  return windows(values.length - back, POINTS)
    .filter((start) => placesOf(start).every((at) => !isAnomaly.slice(at, at + POINTS).includes(true)))
    .map((start) => ({
      series: name,
      control: values.slice(start + back - days * perDay, start + back - days * perDay + POINTS),
      experiment: values.slice(start + back, start + back + POINTS),
      isOfAnotherTime: true as const,
      ...(times > 1 && {
        times: placesOf(start)
          .slice(0, -1)
          .map((at) => values.slice(at, at + POINTS)),
      }),
    }))
}

/** Windows with labelled points, each compared with the window before it. */
function anomalousPairs({ name, values, isAnomaly }: RecordedSeries): RecordedPair[] {
  const count = (start: number): number => isAnomaly.slice(start, start + POINTS).filter(Boolean).length
  return windows(isAnomaly.length - POINTS, POINTS / 2)
    .filter((start) => count(start) === 0 && count(start + POINTS) >= MIN_ANOMALIES)
    .map((start) => ({
      series: name,
      control: values.slice(start, start + POINTS),
      experiment: values.slice(start + POINTS, start + 2 * POINTS),
    }))
}

/** Each event stays with a chance of one half. Values that are no number of events stay as they are. */
function thinned(value: number, random: Random): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_EVENTS) return value
  return Array.from({ length: value }, () => random.uniform()).filter((chance) => chance < 1 / 2).length
}

function isOther(values: Float64Array, before = values): boolean {
  return values.some((value, index) => value !== before[index])
}

function isSlow(values: Float64Array, level = values[0] ?? 0): boolean {
  const [low, high] = [Math.min(...values, level), Math.max(...values, level)]
  if (!(low > 0) || high - low > SLOW.range * low || high === low) return false
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let [products, squares] = [0, 0]
  values.forEach((value, index) => {
    squares += (value - mean) ** 2
    if (index > 0) products += (value - mean) * ((values[index - 1] ?? 0) - mean)
  })
  return products > SLOW.autocorrelation * squares
}
