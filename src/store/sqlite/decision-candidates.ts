import { sql } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { DecisionFilter, DecisionPosition } from '../decision-store.js'
import type { DecisionDatabase, DecisionTable } from './decision-database.js'

/** What is needed of a decision to tell whether it belongs on a page, and whether the page can hold it. */
export interface DecisionCandidate extends Pick<
  Selectable<DecisionTable>,
  'seq' | 'time_ms' | 'path' | 'outcome' | 'application'
> {
  readonly kept_bytes: number
}

type DrivingFilter = 'path' | 'application' | 'outcome' | 'time'

const MOST_SCANNED = 1000

/**
 * How many candidates to read at once: just the wanted ones when an index gives exactly the matches, else a bounded
 * stretch of an index, so that no search holds the thread for long.
 */
export function candidatesPerStep(filter: DecisionFilter, wanted: number): number {
  const { path, outcome, application } = filter
  const filters = [path, outcome, application].filter((value) => value !== undefined).length
  const isExact = filters === 0 || (filters === 1 && drivingFilter(filter) !== 'time')
  return isExact ? wanted : MOST_SCANNED
}

/** Decisions behind `after`, newest first, that pass the filter's times and the one part of it with the best index. */
export function readCandidates(
  db: Kysely<DecisionDatabase>,
  filter: DecisionFilter,
  after: DecisionPosition | undefined,
  limit: number,
): Promise<DecisionCandidate[]> {
  const { fromMs, toMs } = filter
  let query = selectDriven(db, filter)
  if (fromMs !== undefined) query = query.where('time_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('time_ms', '<', toMs)
  if (after !== undefined) {
    // The first condition bounds the index scan, which an "or" alone would not.
    query = query
      .where('time_ms', '<=', after.timeMs)
      .where((is) => is.or([is('time_ms', '<', after.timeMs), is('seq', '<', after.seq)]))
  }
  return query
    .select(['seq', 'time_ms', 'path', 'outcome', 'application'])
    .select(sql<number>`coalesce(length(input), 0) + coalesce(length(result), 0)`.as('kept_bytes'))
    .orderBy('time_ms', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
}

/** Whether the candidate passes all parts of the filter. */
export function isMatch(filter: DecisionFilter, candidate: DecisionCandidate): boolean {
  const { path, outcome, application } = filter
  if (outcome !== undefined && candidate.outcome !== outcome) return false
  if (application !== undefined && candidate.application !== application) return false
  if (path === undefined) return true
  return path.endsWith('/') ? candidate.path.startsWith(path) : candidate.path === path
}

function drivingFilter({ path, outcome, application }: DecisionFilter): DrivingFilter {
  if (path !== undefined && !path.endsWith('/')) return 'path'
  if (application !== undefined) return 'application'
  return outcome === 'deny' || outcome === 'error' ? 'outcome' : 'time'
}

function selectDriven(db: Kysely<DecisionDatabase>, filter: DecisionFilter) {
  const query = db.selectFrom('decisions')
  const { path = '', application = '', outcome = '' } = filter
  switch (drivingFilter(filter)) {
    case 'path':
      return query.where('path', '=', path)
    case 'application':
      return query.where('application', '=', application)
    case 'outcome':
      // The partial index serves only a query that repeats its condition word by word.
      return query.where('outcome', '=', outcome).where('outcome', 'in', [sql.lit('deny'), sql.lit('error')])
    case 'time':
      return query
  }
}
