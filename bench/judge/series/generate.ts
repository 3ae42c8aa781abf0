import { makeRandom } from '../generate-pairs.js'
import type { Random } from '../generate-pairs.js'
import type { RecordedSeries } from './load.js'

const MINUTES_PER_DAY = 1440
const DAYS = 9
const INSTANCES = 2
const SERIES_OF_A_KIND = 6
const ANOMALY_POINTS = 12
const ANOMALIES = 12

/** Makes the level of each point of two instances of one thing. */
export type Kind = (random: Random, size: number) => (place: number) => readonly [number, number]

export type Kinds = Readonly<Record<string, Kind>>

/** The daily load: 1 on average, with some weather of its own on each day. */
function dailyLoad(random: Random, swing: number): (place: number) => number {
  const days = Array.from({ length: DAYS + 1 }, () => 1 + 0.05 * random.normal())
  let weather = 0
  return (place) => {
    weather = 0.98 * weather + 0.01 * random.normal()
    const angle = (2 * Math.PI * place) / MINUTES_PER_DAY
    const season = 1 + swing * Math.sin(angle) + (swing / 4) * Math.sin(2 * angle + 1)
    return Math.max(0.05, season * (days[Math.floor(place / MINUTES_PER_DAY)] ?? 1) + weather)
  }
}

export const both = (make: () => number): readonly [number, number] => [make(), make()]

/** The kinds of series that services have. */
const KINDS: Kinds = {
  'cpu by load': (random) => {
    const load = dailyLoad(random, 0.5)
    return (place) => {
      const level = 40 * load(place)
      return both(() => level * (1 + 0.06 * random.normal()))
    }
  },
  'latency with a heavy tail': (random) => {
    const load = dailyLoad(random, 0.3)
    return (place) => {
      const level = 80 * load(place) ** 0.5
      const one = (): number =>
        level *
        Math.exp(0.35 * random.normal()) *
        (random.uniform() < 0.02 ? (1 - random.uniform()) ** (-1 / 1.5) : 1)
      return both(one)
    }
  },
  'latency of a cache': (random) => {
    const load = dailyLoad(random, 0.2)
    return (place) => {
      const misses = 0.3 + 0.1 * load(place)
      return both(() => (random.uniform() < misses ? 40 : 4) * Math.exp(0.2 * random.normal()))
    }
  },
  'slow memory': (random, size) => {
    const sides = [0, 0].map(() => ({ level: size * (1 + 0.002 * random.normal()), drift: 0 }))
    const step = (side: { level: number; drift: number }): number => {
      side.drift = 0.99 * side.drift + 0.0004 * random.normal()
      return side.level * (1 + side.drift)
    }
    return () => [sides[0], sides[1]].map((side) => (side ? step(side) : 0)) as [number, number]
  },
  'requests as counts': (random, size) => {
    const load = dailyLoad(random, 0.6)
    return (place) => {
      const level = (size / 100) * load(place)
      return both(() => random.poisson(level))
    }
  },
  'errors in bursts': (random) => {
    let burst = 0
    return () => {
      burst = burst > 0 ? burst - 1 : random.uniform() < 0.01 ? 3 : 0
      return both(() => random.poisson(0.1 + (burst > 0 ? 4 : 0)))
    }
  },
  'values reported twice': (random) => {
    const load = dailyLoad(random, 0.3)
    let last: readonly [number, number] = [0, 0]
    return (place) => {
      const level = 300 * load(place)
      if (place % 2 === 0) last = both(() => level * (1 + 0.1 * random.normal()))
      return last
    }
  },
}

/**
 * Made-up series with the properties of recorded ones, for tables without a folder: daily seasons
 * that differ from day to day, heavy tails, two modes, slow memory, counts, bursts and duplicates.
 * The first instance of each has labelled anomalies.
 */
export function generateSeries(seed: number, kinds = KINDS): RecordedSeries[] {
  return Object.entries(kinds).flatMap(([kind, make]) =>
    Array.from({ length: SERIES_OF_A_KIND }, (_, index) => index).flatMap((index) => {
      const random = makeRandom(seed + index)
      const levels = make(random, 200 * (index + 1))
      const points = DAYS * MINUTES_PER_DAY
      const sides = Array.from({ length: INSTANCES }, () => new Float64Array(points))
      for (let place = 0; place < points; place += 1)
        levels(place).forEach((value, side) => {
          const values = sides[side]
          if (values) values[place] = value
        })
      const family = `${kind} ${index + 1}`
      return sides.map((values, side) => ({
        ...{ name: `${family}@${side + 1}`, family, values, perDay: MINUTES_PER_DAY },
        isAnomaly: side === 0 ? withAnomalies(values, random) : [],
      }))
    }),
  )
}

/** Triples some stretches of the values. Returns where. */
function withAnomalies(values: Float64Array, random: Random): boolean[] {
  const isAnomaly = new Array<boolean>(values.length).fill(false)
  for (let count = 0; count < ANOMALIES; count += 1) {
    const start = Math.floor(random.uniform() * (values.length - ANOMALY_POINTS))
    for (let place = start; place < start + ANOMALY_POINTS; place += 1) {
      if (isAnomaly[place] === true) continue
      isAnomaly[place] = true
      values[place] = 3 * (values[place] ?? 0)
    }
  }
  return isAnomaly
}
