import { both } from './generate.js'
import type { Kinds } from './generate.js'

const MINUTES_PER_DAY = 1440
const QUIET_DAYS = 2
const DAYS_PER_WEEK = 7

/** Kinds of series with which no rule of the judge was chosen: a check of those that were. */
export const HELD_OUT_KINDS: Kinds = {
  'queue that drains': (random) => {
    const lengths = [0, 0]
    return (place) => {
      const isBusy = place % MINUTES_PER_DAY > MINUTES_PER_DAY / 3
      return lengths.map((length, side) => {
        const next = Math.max(0, length + random.poisson(isBusy ? 4.6 : 3) - 5)
        lengths[side] = next
        return next + 1
      }) as [number, number]
    }
  },
  'memory with collections': (random, size) => {
    const levels = [0, 200].map((start) => start % 97)
    return () =>
      levels.map((level, side) => {
        const next = level > 80 + 10 * random.uniform() ? 20 : level + 1.5 * random.uniform()
        levels[side] = next
        return size * (1 + next / 100)
      }) as [number, number]
  },
  'time as a gamma value': (random, size) => () => {
    const one = (): number =>
      Array.from({ length: 3 }, () => -Math.log(1 - random.uniform())).reduce((sum, part) => sum + part, 0)
    return both(() => (size / 20) * one())
  },
  'share of busy threads': (random) => {
    let level = 0.3
    return (place) => {
      level = Math.min(0.9, Math.max(0.05, level + 0.02 * random.normal() + 0.02 * (0.3 - level)))
      const isQuiet = Math.floor(place / MINUTES_PER_DAY) % DAYS_PER_WEEK >= DAYS_PER_WEEK - QUIET_DAYS
      const share = isQuiet ? level / 2 : level
      return both(() => random.poisson(64 * share) / 64)
    }
  },
  'batch job each quarter of an hour': (random, size) => (place) =>
    both(() => size * (place % 15 < 3 ? 4 : 1) * (1 + 0.1 * random.normal())),
  'retries of a client': (random) => {
    let storm = 0
    return () => {
      storm = random.uniform() < 0.004 ? 6 : 0.7 * storm
      return both(() => random.poisson(2 + storm))
    }
  },
}
