import type { UsualSpread } from '../../src/canary/judge/series/types.js'
import { seededNormal, seededRandom } from '../../src/canary/judge/series/seeded-random.js'

/** Points of both sides, with denominators for counts. */
export interface Pair {
  readonly control: Float64Array
  readonly experiment: Float64Array
  readonly exposure?: { readonly control: Float64Array; readonly experiment: Float64Array }
  /** One series per pod, if there are several. */
  readonly units?: { readonly control: readonly Float64Array[]; readonly experiment: readonly Float64Array[] }
  readonly usualSpread?: UsualSpread
}

/** One line of the simulation: many pairs of one kind. */
export interface Row {
  readonly name: string
  readonly wanted: 'none' | 'low' | 'found'
  /** Minimum detection rate or maximum rate of false alarms, in per cent. */
  readonly limit: number
  /** Maximum rate of verdicts that need review, in per cent, if limited. */
  readonly inconclusive?: number
  /** Minimum rate of detections and reviews together, in per cent, if required. */
  readonly told?: number
  readonly make: (random: Random) => Pair
}

/** Source of a line's numbers. */
export interface Random {
  readonly uniform: () => number
  readonly normal: () => number
  readonly poisson: (mean: number) => number
}

const POINTS = 60
const LEVEL = 100
/** Per minute. */
const REQUESTS = 300
const WINDOW = 5

/** Returns the same random numbers for the same seed. */
export function makeRandom(seed: number): Random {
  const uniform = seededRandom(seed)
  return { uniform, normal: seededNormal(uniform), poisson: (mean) => poisson(uniform, mean) }
}

export type Series = (random: Random, count: number) => Float64Array

export const normal =
  (mean: number, deviation: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => mean + deviation * random.normal())

export const lognormal =
  (factor: number, deviation = 1): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => factor * Math.exp(deviation * random.normal()))

/** Autocorrelated normal values with mean 100 and standard deviation 10. */
export const autoregressive =
  (share: number): Series =>
  (random, count) => {
    let state = random.normal()
    return Float64Array.from({ length: count }, () => {
      state = share * state + Math.sqrt(1 - share * share) * random.normal()
      return LEVEL + 10 * state
    })
  }

const spikes =
  (share: number, factor: number): Series =>
  (random, count) =>
    normal(LEVEL, 10)(random, count).map((value) => (random.uniform() < share ? value * factor : value))

/** Failed requests in per cent, 0 in most minutes. */
const errorMinutes =
  (share: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => (random.uniform() < share ? 1 + random.uniform() : 0))

/** Failed requests in minutes with errors, at least 1. */
export const errorCounts =
  (share: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => (random.uniform() < share ? 1 + random.poisson(2) : 0))

/** Independent failed requests, at a rate that gives the share of minutes with any. */
const independentErrors =
  (share: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => random.poisson(-Math.log(1 - share)))

/** At most one failed request per minute. */
const singleErrors =
  (share: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => (random.uniform() < share ? 1 : 0))

function poisson(uniform: () => number, mean: number): number {
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = uniform(); product > limit; product *= uniform()) count += 1
  return count
}

/** Successful requests per minute, in per cent. */
export const successRate =
  (share: number): Series =>
  (random, count) =>
    Float64Array.from({ length: count }, () => {
      const failed = Math.min(REQUESTS, random.poisson(REQUESTS * (1 - share)))
      return 100 * (1 - failed / REQUESTS)
    })

/** Moving averages over five points. */
export const overlapping =
  (series: Series): Series =>
  (random, count) => {
    const values = series(random, count + WINDOW - 1)
    return Float64Array.from(
      { length: count },
      (_, place) => values.subarray(place, place + WINDOW).reduce((sum, value) => sum + value, 0) / WINDOW,
    )
  }

const pairOf =
  (control: Series, experiment: Series, count = POINTS) =>
  (random: Random): Pair => ({ control: control(random, count), experiment: experiment(random, count) })

const countsOf =
  (control: Series, experiment: Series) =>
  (random: Random): Pair => ({
    ...pairOf(control, experiment)(random),
    exposure: { control: requests(random), experiment: requests(random) },
  })
/**
 * Probability per minute that an incident starts, its mean duration in minutes, and the rates of
 * failed requests during it and otherwise.
 */
interface Bursts {
  readonly start: number
  readonly minutes: number
  readonly share: number
  readonly usual?: number
}

/** The rate of failed requests in each minute. */
const troubled =
  ({ start, minutes, share, usual = 0 }: Bursts) =>
  (random: Random): Float64Array => {
    let isOn = false
    return Float64Array.from({ length: POINTS }, () => {
      isOn = isOn ? random.uniform() >= 1 / minutes : random.uniform() < start
      return usual + (isOn ? share : 0)
    })
  }

/** Errors over time. The canary has a tenth of the traffic and `factor` times the errors. */
const unequalTraffic =
  (bursts: Bursts, ofCanary = bursts, factor = 1) =>
  (random: Random): Pair => {
    const side = (level: number, trouble: Bursts, times: number): readonly [Float64Array, Float64Array] => {
      const exposure = requests(random).map((count) => Math.max(1, Math.round((count * level) / 1000)))
      const shares = troubled(trouble)(random)
      return [exposure, exposure.map((count, place) => random.poisson(times * count * (shares[place] ?? 0)))]
    }
    const [[before, errors], [now, canaryErrors]] = [side(2000, bursts, 1), side(200, ofCanary, factor)]
    return {
      control: errors,
      experiment: canaryErrors,
      exposure: { control: before, experiment: now },
    }
  }

const requests = (random: Random): Float64Array =>
  Float64Array.from({ length: POINTS }, () => Math.max(1, Math.round(1000 + 30 * random.normal())))

const same = (name: string, series: Series, count = POINTS, limit = 2): Row => ({
  name: `A/A ${name}`,
  wanted: 'none',
  limit,
  make: pairOf(series, series, count),
})
const change = (name: string, limit: number, make: Row['make']): Row => ({
  name,
  wanted: 'found',
  limit,
  make,
})

export const AROUND = normal(LEVEL, 10)

/**
 * Each with its minimum detection rate if errors are three times as high, and if incidents are four
 * times as frequent.
 */
const TENTH_OF_TRAFFIC: readonly (readonly [string, Bursts, high: number, often: number])[] = [
  ['bursts of a minute', { start: 0.1, minutes: 1, share: 0.2 }, 75, 75],
  ['bursts of 3 minutes', { start: 0.02, minutes: 3, share: 0.2 }, 20, 30],
  ['bursts of 3 minutes among errors', { start: 0.05, minutes: 3, share: 0.1, usual: 0.001 }, 60, 25],
  ['bursts of 8 minutes among errors', { start: 0.05, minutes: 8, share: 0.05, usual: 0.005 }, 75, 22],
]

/** Worse canaries that people should review. */
export const WORSE_BURSTS: readonly Row[] = TENTH_OF_TRAFFIC.flatMap(([name, bursts, high, often]) => [
  {
    ...change(`three times as high: ${name}`, 0, unequalTraffic(bursts, bursts, 3)),
    told: high,
  },
  {
    ...change(
      `four times as often: ${name}`,
      0,
      unequalTraffic(bursts, { ...bursts, start: 4 * bursts.start }),
    ),
    told: often,
  },
])

/** Kinds of pairs with their maximum rate of false alarms or minimum detection rate. */
export const ROWS: readonly Row[] = [
  ...[2, 3].map((count) => same(`normal n=${count}`, AROUND, count)),
  same('normal n=10', AROUND, 10),
  same('normal n=30', AROUND, 30),
  same('normal n=60', AROUND),
  same('AR(1) 0.5', autoregressive(0.5)),
  same('AR(1) 0.8', autoregressive(0.8)),
  same('AR(1) 0.95', autoregressive(0.95)),
  same('lognormal s=1', lognormal(1), POINTS, 2.5),
  same('error minutes 5 %', errorMinutes(0.05)),
  same('error counts 5 %', errorCounts(0.05), POINTS, 5),
  same('independent errors 5 %', independentErrors(0.05), POINTS, 5),
  same('single errors 5 %', singleErrors(0.05), POINTS, 5),
  ...TENTH_OF_TRAFFIC.map(([name, bursts]) => ({
    ...{
      name: `A/A a tenth of the traffic, ${name}`,
      wanted: 'none' as const,
      limit: 4,
      inconclusive: 10,
    },
    make: unequalTraffic(bursts),
  })),
  same('success 99.95 %', successRate(0.9995)),
  same('success 98 %', successRate(0.98)),
  same('rate[5m]', overlapping(AROUND)),
  {
    name: 'trivial +2 % at cv 2 %',
    wanted: 'low',
    limit: 2,
    make: pairOf(normal(LEVEL, 2), normal(1.02 * LEVEL, 2)),
  },
  change('+10 % cv 10 %, n=30', 85, pairOf(AROUND, normal(1.1 * LEVEL, 10), 30)),
  change('+25 % cv 10 %, n=30', 100, pairOf(AROUND, normal(1.25 * LEVEL, 10), 30)),
  change('x1.5 lognormal s=1', 45, pairOf(lognormal(1), lognormal(1.5))),
  change('x2 lognormal s=1', 93, pairOf(lognormal(1), lognormal(2))),
  change('x10 spikes in 5 %', 4.2, pairOf(AROUND, spikes(0.05, 10))),
  change('x10 spikes in 20 %', 92.5, pairOf(AROUND, spikes(0.2, 10))),
  change('x10 spikes in 40 %', 100, pairOf(AROUND, spikes(0.4, 10))),
  change('same median, sd x4', 97.2, pairOf(AROUND, normal(LEVEL, 40))),
  change('error minutes 2 -> 10 %', 18.5, pairOf(errorMinutes(0.02), errorMinutes(0.1))),
  change('error minutes 5 -> 20 %', 47.8, pairOf(errorMinutes(0.05), errorMinutes(0.2))),
  change('error minutes 10 -> 40 %', 91.8, pairOf(errorMinutes(0.1), errorMinutes(0.4))),
  change('counts 5 -> 20 %, requests given', 80, countsOf(errorCounts(0.05), errorCounts(0.2))),
  change('counts 5 -> 20 %, only counts', 80, pairOf(errorCounts(0.05), errorCounts(0.2))),
  change('independent errors 5 -> 20 %', 80, pairOf(independentErrors(0.05), independentErrors(0.2))),
  change('success 99.95 -> 99.5 %', 95, pairOf(successRate(0.9995), successRate(0.995))),
  change('success 99.95 -> 98 %', 95, pairOf(successRate(0.9995), successRate(0.98))),
  change('single errors 5 -> 20 %', 80, pairOf(singleErrors(0.05), singleErrors(0.2))),
]
