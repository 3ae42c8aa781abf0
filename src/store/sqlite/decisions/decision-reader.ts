import type { Kysely } from 'kysely'
import { setImmediate } from 'node:timers/promises'
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
import { countDenials, countOutcome, searchStep } from './decision-candidates.js'
import { InputReader } from './input-reader.js'
import { decisionDatabaseOptions } from './decision-database.js'
import type { DecisionDatabase } from './decision-database.js'
import { openReadOnly } from '../engine/open-database.js'
import { queryBuilder } from '../engine/service-file.js'
import { toStoreError } from '../engine/sqlite-error.js'

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
