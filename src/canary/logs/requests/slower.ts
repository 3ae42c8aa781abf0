import { studentUpperQuantile } from '../../statistics/student.js'
import { STRETCHES, sumOfCells } from './request-table.js'
import type { RequestCell } from './request-table.js'
import type { RequestDoubt } from './request-doubt.js'
import { LEAST_REQUESTS } from './strata.js'
import type { Stratum } from './strata.js'

const LEAST_TIMES = 2
const LEAST_TIMES_LATE = 3
/** Of one route, on average. */
const LEAST_TIMES_OF_ROUTE = 3
/** All requests that take at least three times as long are an outage; a thousand times is more likely another unit. */
const TIMES_THAT_FAIL = 3
const MOST_TIMES = 300
const LATE = 4
const LEAST_IN_STRETCH = 5
const LEAST_STRETCHES = 4
/** Stretches that are taken as one, for routes with few requests. */
const COARSER = [1, 2, 3]
const ERROR = 0.001

/** Requests that take much longer than in the baseline, all of them or those of one route, as a sentence; undefined where they do not. */
export function slower(strata: readonly Stratum[]): RequestDoubt | undefined {
  const timed = strata.filter(({ baseline, canary }) =>
    [baseline, canary].every((cells) => sumOfCells(cells).timed >= LEAST_REQUESTS),
  )
  const differences = differencesOf(timed, 1)
  if (differences.length < LEAST_STRETCHES) return undefined
  const last = differences.slice(-LATE)
  const least = leastMean(differences, ERROR)
  const isSlower = least > Math.log(LEAST_TIMES)
  const isLate =
    !isSlower && meanOf(last) > Math.log(LEAST_TIMES_LATE) && Math.min(...last) > Math.log(LEAST_TIMES)
  if (!isSlower && !isLate) return slowerRoute(timed)
  const times = Math.exp(meanOf(isLate ? last : differences))
  return {
    sentence: `the canary's requests take ${times.toFixed(1)} times as long as the baseline's of the same routes${isLate ? ' in the last third' : ''}`,
    fails: Math.min(least, meanOf(last)) > Math.log(TIMES_THAT_FAIL) && times < MOST_TIMES,
  }
}

/** The slower route that is asked for most, where all together are not slower. */
function slowerRoute(timed: readonly Stratum[]): RequestDoubt | undefined {
  const routes = timed.filter(({ route }) => route)
  const slow = routes
    .map((stratum) => ({ stratum, differences: finest(stratum) }))
    .filter(({ differences }) => {
      if (differences.length < LEAST_STRETCHES) return false
      const isPlain = leastMean(differences, ERROR / routes.length) > Math.log(LEAST_TIMES)
      return isPlain && meanOf(differences) > Math.log(LEAST_TIMES_OF_ROUTE)
    })
    .map(({ stratum, differences }) => ({
      route: stratum.route,
      share: sumOfCells(stratum.canary).timed / sumOfCells(timed.flatMap(({ canary }) => canary)).timed,
      times: Math.exp(meanOf(differences)),
    }))
    .toSorted((a, b) => b.share - a.share)
  const [first] = slow
  if (first === undefined) return undefined
  const others = slow.length > 1 ? ` and ${slow.length - 1} more` : ''
  return {
    sentence: `the canary's requests of ${first.route}${others} (${Math.round(100 * slow.reduce((sum, { share }) => sum + share, 0))} % of all) take ${first.times.toFixed(1)} times as long as the baseline's`,
    fails: false,
  }
}

/** The differences of one route in the shortest stretches that have enough requests. */
function finest(stratum: Stratum): readonly number[] {
  const choices = COARSER.map((stretches) => differencesOf([stratum], stretches))
  return choices.find((found, n) => found.length >= STRETCHES / (COARSER[n] ?? 1) - 1) ?? []
}

/**
 * Times by stretch as logarithms beside what the routes of the baseline take, canary less baseline: the values of a test of Student, so
 * that slow minutes of one side count as what they are.
 */
function differencesOf(timed: readonly Stratum[], stretches: number): readonly number[] {
  const usual = timed.map(({ baseline }) => {
    const { sumOfLogs, timed: count } = sumOfCells(baseline)
    return sumOfLogs / count
  })
  return Array.from({ length: STRETCHES / stretches }, (_, n) => {
    const [from, to] = [n * stretches, (n + 1) * stretches]
    const [before, now] = (['baseline', 'canary'] as const).map((side) =>
      beyondUsual(
        timed.map((stratum) => sumOfCells(stratum[side].slice(from, to))),
        usual,
      ),
    )
    return before === undefined || now === undefined ? undefined : now - before
  }).filter((difference) => difference !== undefined)
}

function beyondUsual(cells: readonly RequestCell[], usual: readonly number[]): number | undefined {
  let [sum, count] = [0, 0]
  cells.forEach((cell, place) => {
    sum += cell.sumOfLogs - cell.timed * (usual[place] ?? 0)
    count += cell.timed
  })
  return count < LEAST_IN_STRETCH ? undefined : sum / count
}

function leastMean(values: readonly number[], error: number): number {
  const mean = meanOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const freedom = values.length - 1
  return mean - studentUpperQuantile(error, freedom) * Math.sqrt(squares / freedom / values.length)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
