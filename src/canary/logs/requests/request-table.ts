import type { LoggedRequest } from './read-request.js'

/** Into so many stretches a window is cut. */
export const STRETCHES = 12
/** More routes are told apart by nothing. */
const MAX_ROUTES = 200

/** Requests of one route in one stretch of the window of one side. */
export interface RequestCell {
  requests: number
  /** With a status of 400 to 499. */
  refused: number
  /** Whose time the log tells, and the sum of the logarithms of these. */
  timed: number
  sumOfLogs: number
}

/** Requests of one side by route and stretch. Built up while lines are read. */
export type RequestTable = Map<string, RequestCell[]>

/** Counts one request, at this share of the window. Those that have no time are spread evenly. */
export function takeRequest(
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
