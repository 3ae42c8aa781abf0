import { STRETCHES, sumOfCells } from './request-table.js'
import type { RequestCell } from './request-table.js'
import type { RequestDoubt } from './request-doubt.js'
import { together, totalOf } from './strata.js'
import type { Stratum } from './strata.js'

/** Of the normal distribution; beyond it nobody speaks of chance. */
const BEYOND_DOUBT = 4
const CONFIDENT = 2.5
const LEAST_TIMES = 1.5
/** Of all requests. */
const LEAST_MORE = 0.005
/** Of the requests of one route, where that is all that is worse. */
const LEAST_MORE_OF_ROUTE = 0.2
/** As many as make a new error fail a run; of routes that both sides are asked for all the time, or of whichever. */
const MORE_THAT_FAILS = 0.05
const MORE_THAT_FAILS_ANYWHERE = 0.2
const LATE = 4

/** Many more requests refused (status 400 to 499) than in the baseline, of all or of one route, as a sentence; undefined where there are not. */
export function refusedMore(strata: readonly Stratum[]): RequestDoubt | undefined {
  const compared = comparisonOf(strata)
  if (!isPlain(compared) || compared.more < LEAST_MORE) return refusedOfRoute(strata)
  const [all, others] = [totalOf(strata, 'canary'), totalOf(strata, 'baseline')]
  const { times, before } = compared
  const most = routeOfMost(strata, compared)
  return {
    sentence: `${percent(all)} of the canary's requests are refused (status 400 to 499), ${percent(others)} of the baseline's: ${before === 0 ? '' : `of the same routes ${times.toFixed(1)} times as many, `}${most === undefined ? '' : `most of them of ${most}, `}see whether it still answers them`,
    fails: isEnoughToFail(strata),
  }
}

/** What is over, as what a start brings along, asks people only; so do strangers who ask for what is not there. */
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
  const goesOn = comparisonOf(late).more >= MORE_THAT_FAILS / 2
  return goesOn && (isMore(named, MORE_THAT_FAILS) || isMore(strata, MORE_THAT_FAILS_ANYWHERE))
}

/** The route that more than half of what is refused more is of; undefined where there is none. */
function routeOfMost(strata: readonly Stratum[], { more, compared }: Refusals): string | undefined {
  return strata.find((stratum) => {
    const own = comparisonOf([stratum])
    const isMost = own.more * own.compared > (more * compared) / 2 && own.compared < compared
    return isMost && stratum.route !== ''
  })?.route
}

/** The route of which most more are refused, where all together are not. */
function refusedOfRoute(strata: readonly Stratum[]): RequestDoubt | undefined {
  const [worst] = strata
    .map((stratum) => ({ ...stratum, ...comparisonOf([stratum]) }))
    .filter((route) => route.route && isPlain(route) && route.more >= LEAST_MORE_OF_ROUTE)
    .toSorted((a, b) => b.more - a.more)
  if (worst === undefined) return undefined
  const [now, before] = [sumOfCells(worst.canary), sumOfCells(worst.baseline)]
  return {
    sentence: `${percent(now)} of the canary's requests of ${worst.route} are refused (status 400 to 499), ${percent(before)} of the baseline's: see whether it still answers them`,
    fails: false,
  }
}

interface Refusals {
  readonly z: number
  readonly times: number
  /** Refused requests of the baseline, brought to the traffic of both. */
  readonly before: number
  /** The share of the canary's compared requests that are refused beyond what the baseline's are. */
  readonly more: number
  /** Requests of the canary whose route the baseline has. */
  readonly compared: number
}

function isPlain({ z, times }: Refusals): boolean {
  return z > BEYOND_DOUBT && times ** (1 - CONFIDENT / z) > LEAST_TIMES
}

/** The test and the ratio of Mantel and Haenszel over the routes, divided by how much more the stretches vary than by chance. */
function comparisonOf(strata: readonly Stratum[]): Refusals {
  let [expected, variance, now, before, asked, refusedNow, excess] = [0, 0, 0, 0, 0, 0, 0]
  for (const stratum of strata) {
    const [b, c] = [sumOfCells(stratum.baseline), sumOfCells(stratum.canary)]
    const all = b.requests + c.requests
    if (Math.min(b.requests, c.requests) === 0) continue
    const refused = b.refused + c.refused
    expected += (c.requests * refused) / all
    variance += (c.requests * b.requests * refused * (all - refused)) / (all * all * Math.max(1, all - 1))
    now += (c.refused * b.requests) / all
    before += (b.refused * c.requests) / all
    asked += c.requests
    refusedNow += c.refused
    excess += c.refused - (b.refused * c.requests) / b.requests
  }
  return {
    z: (refusedNow - expected) / Math.sqrt(variance * variationOf(strata) || 1),
    times: now / Math.max(before, 1 / 2),
    before,
    more: excess / Math.max(1, asked),
    compared: asked,
  }
}

/** How many times more the shares of refused requests vary from one stretch to the next than by chance. */
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
