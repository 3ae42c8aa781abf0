import type { Pair, Random, Series } from './generate-pairs.js'
import {
  AROUND,
  autoregressive,
  errorCounts,
  lognormal,
  normal,
  overlapping,
  successRate,
} from './generate-pairs.js'

/** The counted event of a line's runs. */
type Share = 'success' | 'review' | 'failed' | 'ever failed'

/** A metric of a simulated run. */
export interface RunMetric extends Pair {
  readonly name: string
  readonly canary?: object
}

/** Runs of one kind, with the share that shows an event at the last interval or at any. */
export interface RunRow {
  readonly name: string
  readonly intervals: number
  readonly share: Share
  /** Maximum share in per cent. */
  readonly limit: number
  readonly make: (random: Random) => readonly RunMetric[]
}

const POINTS = 60
const INTERVALS = 12
const METRICS = 30

type Change = (value: number, place: number) => number

const one =
  (name: string, control: Series, experiment: Series): RunRow['make'] =>
  (random) => [{ name, control: control(random, POINTS), experiment: experiment(random, POINTS) }]
const changed =
  (series: Series, change: Change): Series =>
  (random, count) =>
    series(random, count).map(change)
const unlike = (name: string, series: Series, change: Change): RunRow['make'] =>
  one(name, series, changed(series, change))

const lastThird: Change = (value, place) => (place >= (2 * POINTS) / 3 ? 3 * value : value)
const outage: Change = (value, place) => (place >= 26 && place < 34 ? 0 : value)
const burst: Change = (value, place) => (place >= POINTS - 3 ? 10 * value : value)
/** The initial excess falls below a fiftieth after a quarter of the window. */
const fading = (place: number): number => Math.exp(-place / 3.75)
const warmingUp: Change = (value, place) => value * (1 + 3 * fading(place))
const ramp: Change = (value, place) => value * (1 + place / POINTS)

const counts =
  (mean: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => random.poisson(mean))

/** A queue of about three requests that is long at first. */
const draining: RunRow['make'] = (random) => [
  {
    name: 'queue length',
    control: counts(3)(random, POINTS),
    experiment: Float64Array.from({ length: POINTS }, (_, place) => random.poisson(3 + 40 * fading(place))),
  },
]

/** One of many similar metrics that is ten times worse. */
const oneOfMany =
  (series: Series, worse: Series): RunRow['make'] =>
  (random) =>
    Array.from({ length: METRICS }, (_, index) => ({
      name: `metric ${index}`,
      control: series(random, POINTS),
      experiment: (index === 0 ? worse : series)(random, POINTS),
    }))

const runs = (
  name: string,
  share: Share,
  limit: number,
  make: RunRow['make'],
  intervals = INTERVALS,
): RunRow => ({ name, share, limit, make, intervals })

const alike = (name: string, series: Series): RunRow =>
  runs(`A/A ${name}, 12 intervals`, 'ever failed', 2, one('metric', series, series))

/** A difference visible in both series, and the same without a difference. */
export const RUN_ROWS: readonly RunRow[] = [
  runs('x3 in the last third, cv 10 %', 'success', 5, unlike('metric', AROUND, lastThird)),
  runs(
    'x3 in the last third, lognormal s=0.5',
    'success',
    5,
    unlike('metric', lognormal(100, 0.5), lastThird),
  ),
  runs('x3 in the last third, AR(1) 0.5', 'success', 5, unlike('metric', autoregressive(0.5), lastThird)),
  runs('x3 in the last third, 5 errors a minute', 'success', 5, unlike('errors', counts(5), lastThird)),
  runs('ramp to x2, cv 10 %', 'success', 5, unlike('metric', AROUND, ramp)),
  runs('outage of 8 of 60 points', 'success', 5, unlike('metric', AROUND, outage), 1),
  runs('x10 in the last 3 points', 'success', 5, unlike('metric', AROUND, burst), 1),
  runs('x4 at first, gone after a quarter', 'failed', 5, unlike('metric', AROUND, warmingUp), 1),
  runs(
    'x4 at first, gone after a quarter, lognormal s=0.5',
    'failed',
    8,
    unlike('metric', lognormal(100, 0.5), warmingUp),
    1,
  ),
  runs('a queue of 40 that drains over a quarter', 'failed', 5, draining, 1),
  runs('rate[5m] A/A', 'review', 10, one('metric', overlapping(AROUND), overlapping(AROUND)), 1),
  runs('one of 30 ten times worse', 'success', 5, oneOfMany(AROUND, normal(1000, 100)), 1),
  runs('one of 30 ten times worse, lognormal s=1', 'success', 5, oneOfMany(lognormal(1), lognormal(10)), 1),
  runs(
    'one of 30 ten times worse, errors 5 -> 50 %',
    'success',
    5,
    oneOfMany(errorCounts(0.05), errorCounts(0.5)),
    1,
  ),
  alike('normal', AROUND),
  alike('AR(1) 0.5', autoregressive(0.5)),
  alike('AR(1) 0.8', autoregressive(0.8)),
  alike('lognormal s=1', lognormal(1)),
  alike('error counts 5 %', errorCounts(0.05)),
  alike('5 errors a minute', counts(5)),
  alike('success 99.95 %', successRate(0.9995)),
  alike('rate[5m]', overlapping(AROUND)),
]
