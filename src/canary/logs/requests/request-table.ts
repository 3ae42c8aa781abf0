import type { LoggedRequest } from './read-request.js'

/** Number of stretches of a window. */
export const STRETCHES = 12
/** Maximum number of routes that are distinguished. */
const MAX_ROUTES = 200

/** Requests of one route in one stretch of the window of one side. */
export interface RequestCell {
  requests: number
  /** With a status of 400 to 499. */
  refused: number
  /** Requests with a known duration, and the sum of the logarithms of their durations. */
  timed: number
  sumOfLogs: number
}

/** Requests of one side by route and stretch. Built up while lines are read. */
export type RequestTable = Map<string, RequestCell[]>

/** Counts one request at a share of the window. Requests without a time are spread evenly. */
export function countRequest(
  table: RequestTable,
  { route, status, logDuration }: LoggedRequest,
  share: number,
): void {
  const key = table.has(route) || table.size < MAX_ROUTES ? route : ''
  let cells = table.get(key)
  if (cells === undefined) {
    cells = Array.from({ length: STRETCHES }, emptyCell)
    table.set(key, cells)
  }
  const place = Number.isNaN(share) ? sumOfCells(cells).requests % STRETCHES : Math.floor(share * STRETCHES)
  const cell = cells[Math.min(STRETCHES - 1, Math.max(0, place))] ?? emptyCell()
  cell.requests += 1
  if (status >= 400 && status < 500) cell.refused += 1
  if (logDuration === undefined) return
  cell.timed += 1
  cell.sumOfLogs += logDuration
}

/** The cells as one. */
export function sumOfCells(cells: readonly RequestCell[]): RequestCell {
  const total = emptyCell()
  for (const { requests, refused, timed, sumOfLogs } of cells) {
    total.requests += requests
    total.refused += refused
    total.timed += timed
    total.sumOfLogs += sumOfLogs
  }
  return total
}

function emptyCell(): RequestCell {
  return { requests: 0, refused: 0, timed: 0, sumOfLogs: 0 }
}

/** Minimum number of requests on each side for a route of its own. */
export const MIN_REQUESTS = 20

/** One route, or all that are rare, on both sides, by stretch. */
export interface Stratum {
  /** Undefined for all that are rare together. */
  readonly route: string | undefined
  readonly baseline: readonly RequestCell[]
  readonly canary: readonly RequestCell[]
}

/** The routes of both sides, with rare ones combined. */
export function strataOf(baseline: RequestTable, canary: RequestTable): readonly Stratum[] {
  const named: Stratum[] = []
  const rare: Stratum[] = []
  for (const route of new Set([...baseline.keys(), ...canary.keys()])) {
    const stratum = { route, baseline: baseline.get(route) ?? [], canary: canary.get(route) ?? [] }
    const least = Math.min(sumOfCells(stratum.baseline).requests, sumOfCells(stratum.canary).requests)
    const list = least >= MIN_REQUESTS ? named : rare
    list.push(stratum)
  }
  return [
    ...named,
    { route: undefined, baseline: together(rare, 'baseline'), canary: together(rare, 'canary') },
  ]
}

/** The requests of a side by stretch, for all given routes. */
export function together(strata: readonly Stratum[], side: 'baseline' | 'canary'): RequestCell[] {
  return Array.from({ length: STRETCHES }, (_, n) =>
    sumOfCells(strata.flatMap((stratum) => stratum[side].slice(n, n + 1))),
  )
}

/** All requests of a side. */
export function totalOf(strata: readonly Stratum[], side: 'baseline' | 'canary'): RequestCell {
  return sumOfCells(strata.flatMap((stratum) => stratum[side]))
}
