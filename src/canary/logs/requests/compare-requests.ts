import type { RequestTable, RequestCell, Stratum } from './request-table.js'
import { strataOf, together, totalOf, MIN_REQUESTS, STRETCHES, sumOfCells } from './request-table.js'
import { studentUpperQuantile } from '../../statistics/student.js'

/**
 * Compares the access logs of both sides for problems without an error level or a status of 500:
 * many more refused requests, and much longer durations. Both are compared by route, so that
 * another mix of requests is not a change.
 */
export function compareRequests(baseline: RequestTable, canary: RequestTable): readonly RequestDoubt[] {
  const strata = strataOf(baseline, canary)
  return [refusedMore(strata), slower(strata)].filter((doubt) => doubt !== undefined)
}

/** A problem with the requests of a canary. */
interface RequestDoubt {
  readonly sentence: string
  /** Whether it fails the run; otherwise it needs a review. */
  readonly fails: boolean
}

/** Standard normal score beyond which a difference is not chance. */
const BEYOND_DOUBT = 4
const CONFIDENT = 2.5
const MIN_TIMES_REFUSED = 1.5
/** Minimum excess, as a share of all requests. */
const MIN_EXCESS = 0.005
/** Minimum excess, as a share of the requests of one route, if only that route is worse. */
const MIN_EXCESS_OF_ROUTE = 0.2
/**
 * Minimum excess that fails a run, like a new error of that share: for routes that both sides have
 * all the time, and for all routes.
 */
const FAILING_EXCESS = 0.05
const FAILING_EXCESS_ANYWHERE = 0.2
const LATE = 4

/**
 * Many more refused requests (status 400 to 499) than in the baseline, in total or of one route, as
 * a sentence. Undefined if there are not.
 */
function refusedMore(strata: readonly Stratum[]): RequestDoubt | undefined {
  const compared = comparisonOf(strata)
  if (!isPlain(compared) || compared.more < MIN_EXCESS) return refusedOfRoute(strata)
  const [all, others] = [totalOf(strata, 'canary'), totalOf(strata, 'baseline')]
  const { times, before } = compared
  const most = routeOfMost(strata, compared)
  return {
    sentence: `${percent(all)} of the canary's requests are refused (status 400 to 499), ${percent(others)} of the baseline's${before === 0 ? '' : `. The same routes are refused ${times.toFixed(1)} times as often`}${most === undefined ? '' : `. Most of the refused requests are ${most}`}. Check whether the canary still answers them`,
    fails: isEnoughToFail(strata),
  }
}

/**
 * Refusals that are over, as after a start, only need a review, and so do those of strangers who
 * request missing pages.
 */
function isEnoughToFail(strata: readonly Stratum[]): boolean {
  const named = strata.filter(({ route }) => route !== undefined)
  const all = totalOf(strata, 'canary').requests
  const isMore = (some: readonly Stratum[], least: number): boolean => {
    const found = comparisonOf(some)
    return isPlain(found) && (found.more * found.compared) / all >= least
  }
  const late = strata.map((stratum) => ({
    ...stratum,
    baseline: stratum.baseline.slice(STRETCHES - LATE),
    canary: stratum.canary.slice(STRETCHES - LATE),
  }))
  const goesOn = comparisonOf(late).more >= FAILING_EXCESS / 2
  return goesOn && (isMore(named, FAILING_EXCESS) || isMore(strata, FAILING_EXCESS_ANYWHERE))
}

/** The route with more than half of the excess. Undefined if there is none. */
function routeOfMost(strata: readonly Stratum[], { more, compared }: Refusals): string | undefined {
  return strata.find((stratum) => {
    const own = comparisonOf([stratum])
    const isMost = own.more * own.compared > (more * compared) / 2 && own.compared < compared
    return isMost && stratum.route !== ''
  })?.route
}

/** The route with the largest excess, if all routes together have none. */
function refusedOfRoute(strata: readonly Stratum[]): RequestDoubt | undefined {
  const [worst] = strata
    .map((stratum) => ({ ...stratum, ...comparisonOf([stratum]) }))
    .filter((route) => route.route && isPlain(route) && route.more >= MIN_EXCESS_OF_ROUTE)
    .toSorted((a, b) => b.more - a.more)
  if (worst === undefined) return undefined
  const [now, before] = [sumOfCells(worst.canary), sumOfCells(worst.baseline)]
  return {
    sentence: `${percent(now)} of the canary's requests of ${worst.route} are refused (status 400 to 499), ${percent(before)} of the baseline's. Check whether the canary still answers them`,
    fails: false,
  }
}

interface Refusals {
  readonly z: number
  readonly times: number
  /** Refused requests of the baseline, brought to the traffic of both. */
  readonly before: number
  /**
   * The share of the canary's compared requests that are refused in excess of the baseline's share.
   */
  readonly more: number
  /** Requests of the canary on routes that the baseline has. */
  readonly compared: number
}

function isPlain({ z, times }: Refusals): boolean {
  return z > BEYOND_DOUBT && times ** (1 - CONFIDENT / z) > MIN_TIMES_REFUSED
}

/**
 * The test and the ratio of Mantel and Haenszel over the routes, divided by the excess variation of
 * the stretches.
 */
function comparisonOf(strata: readonly Stratum[]): Refusals {
  let [expected, variance, now, before, compared, refusedNow, excess] = [0, 0, 0, 0, 0, 0, 0]
  for (const stratum of strata) {
    const [b, c] = [sumOfCells(stratum.baseline), sumOfCells(stratum.canary)]
    const all = b.requests + c.requests
    if (Math.min(b.requests, c.requests) === 0) continue
    const refused = b.refused + c.refused
    expected += (c.requests * refused) / all
    variance += (c.requests * b.requests * refused * (all - refused)) / (all * all * Math.max(1, all - 1))
    now += (c.refused * b.requests) / all
    before += (b.refused * c.requests) / all
    compared += c.requests
    refusedNow += c.refused
    excess += c.refused - (b.refused * c.requests) / b.requests
  }
  return {
    z: (refusedNow - expected) / Math.sqrt(variance * variationOf(strata) || 1),
    times: now / Math.max(before, 1 / 2),
    before,
    more: excess / Math.max(1, compared),
    compared,
  }
}

/**
 * The variation of the share of refused requests from one stretch to the next, relative to chance.
 */
function variationOf(strata: readonly Stratum[]): number {
  let [sum, freedom] = [0, 0]
  for (const side of ['baseline', 'canary'] as const) {
    const cells = together(strata, side).filter(({ requests }) => requests > 0)
    const { requests, refused } = sumOfCells(cells)
    const share = refused / requests
    if (cells.length < 2 || !(share > 0 && share < 1)) continue
    const away = cells.map(
      (cell) => (cell.refused - cell.requests * share) / Math.sqrt(cell.requests * share * (1 - share)),
    )
    // From one to the next: what begins within the window and stays must not pass for chance.
    sum += away.slice(1).reduce((all, value, place) => all + (value - (away[place] ?? 0)) ** 2 / 2, 0)
    freedom += cells.length - 1
  }
  return Math.max(1, sum / Math.max(1, freedom))
}

function percent({ refused, requests }: RequestCell): string {
  const share = (100 * refused) / Math.max(1, requests)
  return `${share.toFixed(share < 10 ? 1 : 0)} %`
}

const MIN_TIMES_SLOWER = 2
const MIN_TIMES_LATE = 3
/** Minimum mean ratio for a single route. */
const MIN_TIMES_OF_ROUTE = 3
/**
 * Ratio from which all requests together are an outage. A ratio above `MAX_TIMES` is more likely
 * another unit.
 */
const TIMES_THAT_FAIL = 3
const MAX_TIMES = 300
const MIN_IN_STRETCH = 5
const MIN_STRETCHES = 4
/** Numbers of stretches that are combined for routes with few requests. */
const COARSER = [1, 2, 3]
const ERROR = 0.001

/**
 * Requests that take much longer than in the baseline, in total or of one route, as a sentence.
 * Undefined if they do not.
 */
function slower(strata: readonly Stratum[]): RequestDoubt | undefined {
  const timed = strata.filter(({ baseline, canary }) =>
    [baseline, canary].every((cells) => sumOfCells(cells).timed >= MIN_REQUESTS),
  )
  const differences = differencesOf(timed, 1)
  if (differences.length < MIN_STRETCHES) return undefined
  const last = differences.slice(-LATE)
  const least = leastMean(differences, ERROR)
  const isSlower = least > Math.log(MIN_TIMES_SLOWER)
  const isLate =
    !isSlower && meanOf(last) > Math.log(MIN_TIMES_LATE) && Math.min(...last) > Math.log(MIN_TIMES_SLOWER)
  if (!isSlower && !isLate) return slowerRoute(timed)
  const times = Math.exp(meanOf(isLate ? last : differences))
  return {
    sentence: `The canary's requests take ${times.toFixed(1)} times as long as the baseline's of the same routes${isLate ? ' in the last third' : ''}`,
    fails: Math.min(least, meanOf(last)) > Math.log(TIMES_THAT_FAIL) && times < MAX_TIMES,
  }
}

/** The slower route that is compared for most, where all together are not slower. */
function slowerRoute(timed: readonly Stratum[]): RequestDoubt | undefined {
  const routes = timed.filter(({ route }) => route)
  const slow = routes
    .map((stratum) => ({ stratum, differences: finest(stratum) }))
    .filter(({ differences }) => {
      if (differences.length < MIN_STRETCHES) return false
      const isPlain = leastMean(differences, ERROR / routes.length) > Math.log(MIN_TIMES_SLOWER)
      return isPlain && meanOf(differences) > Math.log(MIN_TIMES_OF_ROUTE)
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
    sentence: `The canary's requests of ${first.route}${others} (${Math.round(100 * slow.reduce((sum, { share }) => sum + share, 0))} % of all) take ${first.times.toFixed(1)} times as long as the baseline's`,
    fails: false,
  }
}

/** The differences of one route in the shortest stretches that have enough requests. */
function finest(stratum: Stratum): readonly number[] {
  const choices = COARSER.map((stretches) => differencesOf([stratum], stretches))
  return choices.find((found, n) => found.length >= STRETCHES / (COARSER[n] ?? 1) - 1) ?? []
}

/**
 * Logarithms of durations by stretch, relative to the usual ones of the baseline's routes, canary
 * minus baseline. They are the values of Student's test, so that slow minutes of one side count as
 * variation.
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
  return count < MIN_IN_STRETCH ? undefined : sum / count
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
