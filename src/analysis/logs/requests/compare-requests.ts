import { studentUpperQuantile } from '../../statistics/student.js'
import { STRETCHES, sumOfCells } from './request-table.js'
import type { RequestCell, RequestTable } from './request-table.js'

/** A route of which a side has fewer is compared among all such. */
const LEAST_REQUESTS = 20
/** Of the normal distribution; beyond it nobody speaks of chance. */
const BEYOND_DOUBT = 4
const CONFIDENT = 2.5
const LEAST_TIMES_REFUSED = 1.5
/** Of all requests. */
const LEAST_MORE_REFUSED = 0.01
const LEAST_TIMES_SLOWER = 2
const LEAST_TIMES_LATE = 3
const LATE = 4
const LEAST_IN_STRETCH = 5
const LEAST_STRETCHES = 4
const ERROR = 0.001

/** One route, or all that are rare, on both sides, by stretch. */
interface Stratum {
  readonly baseline: readonly RequestCell[]
  readonly canary: readonly RequestCell[]
}

/**
 * What the access logs of both sides say that neither a level nor a status of 500 does, as sentences: many more requests refused, and
 * requests that take much longer. Both are compared by route, so that another mix of requests is no change.
 */
export function compareRequests(baseline: RequestTable, canary: RequestTable): readonly string[] {
  const strata = strataOf(baseline, canary)
  return [refusedMore(strata), slower(strata)].filter((sentence) => sentence !== undefined)
}

function strataOf(baseline: RequestTable, canary: RequestTable): Stratum[] {
  const named: Stratum[] = []
  const rare: Stratum[] = []
  for (const route of new Set([...baseline.keys(), ...canary.keys()])) {
    const stratum = { baseline: baseline.get(route) ?? [], canary: canary.get(route) ?? [] }
    const least = Math.min(sumOfCells(stratum.baseline).requests, sumOfCells(stratum.canary).requests)
    const list = least >= LEAST_REQUESTS ? named : rare
    list.push(stratum)
  }
  return [...named, { baseline: together(rare, 'baseline'), canary: together(rare, 'canary') }]
}

/** The requests of a side by stretch, whatever their route. */
function together(strata: readonly Stratum[], side: keyof Stratum): RequestCell[] {
  return Array.from({ length: STRETCHES }, (_, n) =>
    sumOfCells(strata.flatMap((stratum) => stratum[side].slice(n, n + 1))),
  )
}

/** The test and the ratio of Mantel and Haenszel over the routes, divided by how much more the stretches vary than by chance. */
function refusedMore(strata: readonly Stratum[]): string | undefined {
  let [expected, variance, now, before] = [0, 0, 0, 0]
  for (const { baseline, canary } of strata) {
    const [b, c] = [sumOfCells(baseline), sumOfCells(canary)]
    const all = b.requests + c.requests
    if (Math.min(b.requests, c.requests) === 0) continue
    const refused = b.refused + c.refused
    expected += (c.requests * refused) / all
    variance += (c.requests * b.requests * refused * (all - refused)) / (all * all * Math.max(1, all - 1))
    now += (c.refused * b.requests) / all
    before += (b.refused * c.requests) / all
  }
  const [all, others] = [totalOf(strata, 'canary'), totalOf(strata, 'baseline')]
  const compared = strata.filter(({ baseline }) => sumOfCells(baseline).requests > 0)
  const z = (totalOf(compared, 'canary').refused - expected) / Math.sqrt(variance * variationOf(strata) || 1)
  const times = now / Math.max(before, 1 / 2)
  const isPlain = z > BEYOND_DOUBT && times ** (1 - CONFIDENT / z) > LEAST_TIMES_REFUSED
  if (!isPlain || (now - before) / all.requests < LEAST_MORE_REFUSED / 2) return undefined
  return `${percent(all)} of the canary's requests are refused (status 400 to 499), ${percent(others)} of the baseline's: of the same routes ${before === 0 ? '' : `${times.toFixed(1)} times as many, `}see whether it still answers them`
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

/**
 * Times by stretch as logarithms beside what the routes of the baseline take: their differences are the values of a test of Student, so
 * that slow minutes of one side count as what they are.
 */
function slower(strata: readonly Stratum[]): string | undefined {
  const timed = strata.filter(({ baseline, canary }) =>
    [baseline, canary].every((cells) => sumOfCells(cells).timed >= LEAST_REQUESTS),
  )
  const usual = timed.map(({ baseline }) => {
    const { sumOfLogs, timed: count } = sumOfCells(baseline)
    return sumOfLogs / count
  })
  const differences = Array.from({ length: STRETCHES }, (_, n) => {
    const [before, now] = (['baseline', 'canary'] as const).map((side) => beyondUsual(timed, usual, side, n))
    return before === undefined || now === undefined ? undefined : now - before
  }).filter((difference) => difference !== undefined)
  if (differences.length < LEAST_STRETCHES) return undefined
  const last = differences.slice(-LATE)
  const isSlower = leastMean(differences) > Math.log(LEAST_TIMES_SLOWER)
  const isLate =
    !isSlower && meanOf(last) > Math.log(LEAST_TIMES_LATE) && Math.min(...last) > Math.log(LEAST_TIMES_SLOWER)
  if (!isSlower && !isLate) return undefined
  const times = Math.exp(meanOf(isLate ? last : differences)).toFixed(1)
  return `the canary's requests take ${times} times as long as the baseline's of the same routes${isLate ? ' in the last third' : ''}`
}

function beyondUsual(
  timed: readonly Stratum[],
  usual: readonly number[],
  side: keyof Stratum,
  stretch: number,
): number | undefined {
  let [sum, count] = [0, 0]
  timed.forEach((stratum, place) => {
    const cell = stratum[side][stretch]
    if (cell === undefined) return
    sum += cell.sumOfLogs - cell.timed * (usual[place] ?? 0)
    count += cell.timed
  })
  return count < LEAST_IN_STRETCH ? undefined : sum / count
}

function leastMean(values: readonly number[]): number {
  const mean = meanOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const freedom = values.length - 1
  return mean - studentUpperQuantile(ERROR, freedom) * Math.sqrt(squares / freedom / values.length)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function totalOf(strata: readonly Stratum[], side: keyof Stratum): RequestCell {
  return sumOfCells(strata.flatMap((stratum) => stratum[side]))
}

function percent({ refused, requests }: RequestCell): string {
  const share = (100 * refused) / Math.max(1, requests)
  return `${share.toFixed(share < 10 ? 1 : 0)} %`
}
