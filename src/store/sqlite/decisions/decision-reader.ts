import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type {
  DecisionCountFilter,
  DecisionHead,
  DecisionReadStore,
  DenialCount,
  DenialQuery,
  StoredDecision,
  DecisionFilter,
  DecisionPosition,
  PageBounds,
  StoredDecisionPage,
} from '../../ports/decision-store.js'
import { toDecisionHead, toPosition, toStoredDecision } from '../../tables/decision-table.js'
import type { DecisionTable } from '../../tables/decision-table.js'
import { openReadOnly } from '../engine/open-database.js'
import { queryBuilder } from '../engine/service-file.js'
import { toStoreError } from '../engine/sqlite-error.js'
import { RARE_OUTCOMES } from '../migrations/decisions.js'
import { decisionDatabaseOptions } from './decision-database.js'
import type { DecisionDatabase } from './decision-database.js'
import { InputReader } from './input-reader.js'

/** Excludes the execution: an added column is stored after the input and its overflow pages. */
const HEAD_COLUMNS = [
  ...(['seq', 'time_ms', 'decision_id', 'kind', 'path', 'revision', 'outcome'] as const),
  ...(['application', 'caller'] as const),
] as const

interface Selection {
  readonly chosen: readonly DecisionPosition[]
  readonly next?: DecisionPosition
}

/** Opens the decision log for reading, after its writer. Raises AppError `unavailable`. */
export function openDecisionReader(path: string): DecisionReadStore {
  const database = openReadOnly(decisionDatabaseOptions(path))
  return new SqliteDecisionReader(queryBuilder(database), new InputReader(database), () => database.close())
}

class SqliteDecisionReader implements DecisionReadStore {
  readonly #db: Kysely<DecisionDatabase>
  readonly #inputs: InputReader
  readonly #closeDatabase: () => void

  constructor(db: Kysely<DecisionDatabase>, inputs: InputReader, closeDatabase: () => void) {
    this.#db = db
    this.#inputs = inputs
    this.#closeDatabase = closeDatabase
  }

  page(filter: DecisionFilter, bounds: PageBounds, after?: DecisionPosition): Promise<StoredDecisionPage> {
    return reading(async () => {
      const { chosen, ...rest } = await this.#choose(filter, bounds, after)
      return { decisions: await this.#read(chosen, bounds), ...rest }
    })
  }

  count(filter: DecisionCountFilter, max: number): Promise<number> {
    return reading(() => countOutcome(this.#db, filter, max))
  }

  denials(query: DenialQuery, max: number): Promise<readonly DenialCount[]> {
    return reading(() => countDenials(this.#db, query, max))
  }

  get(decisionId: string): Promise<StoredDecision | undefined> {
    return reading(async () => {
      const row = await this.#db
        .selectFrom('decisions')
        .selectAll()
        .where('decision_id', '=', decisionId)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row && toStoredDecision(this.#inputs.unpack(row))
    })
  }

  ofExecution(executionId: string, limit: number): Promise<readonly DecisionHead[]> {
    return reading(async () => {
      const rows = await this.#db
        .selectFrom('decisions')
        .select(HEAD_COLUMNS)
        .where('execution_id', '=', executionId)
        .orderBy('time_ms')
        .orderBy('seq')
        .limit(limit)
        .execute()
      return rows.map((row) => toDecisionHead(row, executionId))
    })
  }

  async close(): Promise<void> {
    await this.#db.destroy()
    // Kysely does not close a connection that it has never used.
    this.#closeDatabase()
  }

  async #choose(
    filter: DecisionFilter,
    bounds: PageBounds,
    after: DecisionPosition | undefined,
  ): Promise<Selection> {
    const chosen: DecisionPosition[] = []
    let bytes = 0
    let position = after
    for (;;) {
      const { found, end } = await searchStep(this.#db, filter, position, bounds.rows - chosen.length + 1)
      for (const candidate of found) {
        bytes += candidate.result_bytes + (bounds.withInputs === false ? 0 : candidate.input_bytes)
        const last = chosen.at(-1)
        if (last !== undefined && (chosen.length === bounds.rows || bytes > bounds.bytes)) {
          return { chosen, next: last }
        }
        chosen.push(toPosition(candidate))
      }
      if (end === undefined) return { chosen }
      position = toPosition(end)
      await setImmediate()
    }
  }

  async #read(
    positions: readonly DecisionPosition[],
    { withInputs = true }: PageBounds,
  ): Promise<StoredDecision[]> {
    if (positions.length === 0) return []
    const seqs = positions.map(({ seq }) => seq)
    const rows = await this.#db
      .selectFrom('decisions')
      .selectAll()
      .where('seq', 'in', seqs)
      .orderBy('time_ms', 'desc')
      .orderBy('seq', 'desc')
      .execute()
    return rows.map((row) =>
      toStoredDecision(withInputs ? this.#inputs.unpack(row) : { ...row, input: null }),
    )
  }
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (raw) {
    throw toStoreError('read decisions', raw)
  }
}

/** A matching decision: its position, and the bytes of input and result that it may add to a page. */
interface DecisionCandidate extends Pick<DecisionTable, 'seq' | 'time_ms'> {
  readonly input_bytes: number
  readonly result_bytes: number
}

/** Result of one step: matches, and the start of the next step if there is more. */
interface SearchStep {
  readonly found: readonly DecisionCandidate[]
  readonly end?: Pick<DecisionCandidate, 'seq' | 'time_ms'> | undefined
}

type DrivingFilter = 'execution' | 'package' | 'path' | 'application' | 'outcome' | 'time'

/** Rows scanned in one step, so that a search blocks the thread for a few milliseconds at most. */
const ROWS_PER_STEP = 2000

/**
 * Finds at most `wanted` matching decisions after `after`, newest first. Uses an index that matches
 * the filter exactly, or else scans a bounded range of a broader one.
 */
async function searchStep(
  db: Kysely<DecisionDatabase>,
  filter: DecisionFilter,
  after: DecisionPosition | undefined,
  wanted: number,
): Promise<SearchStep> {
  if (isIndexed(filter)) {
    return { found: await selectCandidates(db, filter, after).limit(wanted).execute() }
  }
  const end = await selectInOrder(db, filter, after)
    .select(['time_ms', 'seq'])
    .offset(ROWS_PER_STEP - 1)
    .limit(1)
    .executeTakeFirst()
  return { found: await findInStretch(db, filter, after, wanted), end }
}

function drivingFilter({
  path,
  package: name,
  outcome,
  application,
  executionId,
}: DecisionFilter): DrivingFilter {
  if (executionId !== undefined) return 'execution'
  if (name !== undefined) return 'package'
  if (path !== undefined && !path.endsWith('/')) return 'path'
  if (application !== undefined) return 'application'
  return outcome === undefined || outcome === 'allow' || outcome === 'defined' ? 'time' : 'outcome'
}

function isIndexed(filter: DecisionFilter): boolean {
  const { path, package: name, outcome, application, executionId } = filter
  const parts = [path, name, outcome, application, executionId].filter((part) => part !== undefined).length
  return parts === 0 || (parts === 1 && drivingFilter(filter) !== 'time')
}

function findInStretch(
  db: Kysely<DecisionDatabase>,
  filter: DecisionFilter,
  after: DecisionPosition | undefined,
  wanted: number,
): Promise<DecisionCandidate[]> {
  const { path, package: name, outcome, application } = filter
  // The limit keeps SQLite from flattening the subquery and choosing another index.
  const stretch = selectCandidates(db, filter, after).limit(ROWS_PER_STEP).as('stretch')
  let query = db.selectFrom(stretch).select(['seq', 'time_ms', 'input_bytes', 'result_bytes'])
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (application !== undefined) query = query.where('application', '=', application)
  if (path !== undefined && !path.endsWith('/')) query = query.where('path', '=', path)
  if (path?.endsWith('/') === true) query = query.where(sql`substr(path, 1, ${path.length})`, '=', path)
  if (name !== undefined && drivingFilter(filter) !== 'package') {
    query = query.where((is) =>
      is.exists(
        is
          .selectFrom('decision_packages as named')
          .select('named.seq')
          .where('named.package', '=', name)
          .whereRef('named.time_ms', '=', 'stretch.time_ms')
          .whereRef('named.seq', '=', 'stretch.seq'),
      ),
    )
  }
  return query.orderBy('time_ms', 'desc').orderBy('seq', 'desc').limit(wanted).execute()
}

function selectCandidates(
  db: Kysely<DecisionDatabase>,
  filter: DecisionFilter,
  after: DecisionPosition | undefined,
) {
  return selectInOrder(db, filter, after)
    .select(['seq', 'time_ms', 'path', 'outcome', 'application'])
    .select(sql<number>`coalesce(input_bytes, 0)`.as('input_bytes'))
    .select(sql<number>`coalesce(length(result), 0)`.as('result_bytes'))
}

function selectInOrder(
  db: Kysely<DecisionDatabase>,
  filter: DecisionFilter,
  after: DecisionPosition | undefined,
) {
  const { fromMs, toMs } = filter
  let query = selectDriven(db, filter)
  if (fromMs !== undefined) query = query.where('time_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('time_ms', '<', toMs)
  if (after !== undefined) {
    // The first condition bounds the index scan. An "or" alone would not.
    query = query
      .where('time_ms', '<=', after.timeMs)
      .where((is) => is.or([is('time_ms', '<', after.timeMs), is('seq', '<', after.seq)]))
  }
  return query.orderBy('time_ms', 'desc').orderBy('seq', 'desc')
}

function selectDriven(db: Kysely<DecisionDatabase>, filter: DecisionFilter) {
  const query = db.selectFrom('decisions')
  const { path = '', package: name = '', application = '', outcome = '', executionId = '' } = filter
  switch (drivingFilter(filter)) {
    case 'execution':
      return query.where('execution_id', '=', executionId)
    case 'package':
      return db.selectFrom(ofPackage(db, name).as('decisions'))
    case 'path':
      return query.where('path', '=', path)
    case 'application':
      return query.where('application', '=', application)
    case 'outcome':
      // The partial index only serves a query that repeats its condition word by word.
      return query.where('outcome', '=', outcome).where('outcome', 'in', RARE_OUTCOMES)
    case 'time':
      return query
  }
}

/** Counts decisions with a rare outcome since a time, at most `max`. Reads only the index. */
async function countOutcome(
  db: Kysely<DecisionDatabase>,
  filter: DecisionCountFilter,
  max: number,
): Promise<number> {
  const found = selectDriven(db, filter).select('seq').where('time_ms', '>=', filter.fromMs).limit(max)
  const { count } = await db
    .selectFrom(found.as('found'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Counts the newest denials by a package in periods. Reads only the index. */
async function countDenials(
  db: Kysely<DecisionDatabase>,
  { package: name, fromMs, periodMs }: DenialQuery,
  max: number,
): Promise<readonly DenialCount[]> {
  const newest = db
    .selectFrom('decision_packages')
    .select('time_ms')
    .where('package', '=', name)
    .where('time_ms', '>=', fromMs)
    .orderBy('time_ms', 'desc')
    .limit(max)
  const period = sql<number>`cast((time_ms - ${fromMs}) / ${periodMs} as integer)`
  return await db
    .selectFrom(newest.as('newest'))
    .select([period.as('period'), ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy(period)
    .execute()
}

/** Decisions that name a package. Time and number are part of the key, in the order of a page. */
function ofPackage(db: Kysely<DecisionDatabase>, name: string) {
  return db
    .selectFrom('decision_packages as named')
    .innerJoin('decisions', 'decisions.seq', 'named.seq')
    .where('named.package', '=', name)
    .select([
      'named.time_ms',
      'named.seq',
      'path',
      'outcome',
      'application',
      'execution_id',
      'input_bytes',
      'result',
    ])
}
