import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { AppError } from '../../errors/app-error.js'
import { wordVector } from '../postgres/audit/search-words.js'
import { TRAIL } from '../postgres/audit/trail-months.js'
import { migrate } from '../postgres/engine/migrate.js'
import { toStoreError } from '../postgres/engine/postgres-error.js'
import type { PostgresSettings } from '../postgres/engine/postgres-settings.js'
import { Session } from '../postgres/engine/session.js'
import { first, run } from '../postgres/engine/statements.js'
import { serviceSchema } from '../postgres/migrations/service.js'
import { monthOf } from '../postgres/months/month.js'
import { addMonths } from '../postgres/months/monthly-table.js'
import { openReadOnly } from '../sqlite/engine/open-database.js'
import { serviceDatabaseOptions } from '../sqlite/engine/service-file.js'
import { prepareFile } from '../sqlite/threads/open-service-store.js'
import { unpackBody } from '../tables/packed-body.js'

/** A row as read from one engine and written to the other. */
type CopiedRow = Readonly<Record<string, unknown>>

/** A table of both engines. */
interface CopiedTable {
  readonly name: string
  /** The `order by` clause for reading its rows. */
  readonly order: string
  /** Whether the database numbers the rows (column `id`). */
  readonly isNumbered: boolean
  /** Columns that PostgreSQL has in addition to SQLite's. */
  readonly extraColumns?: (row: CopiedRow) => CopiedRow
  /** Creates the partitions for some rows. */
  readonly addPartitions?: (session: Session, rows: readonly CopiedRow[]) => Promise<void>
  /** Statement that fills a dependent table after all rows. */
  readonly afterwards?: string
}

/**
 * All copied tables. A table follows the tables that it refers to. Indexes for searches are built
 * again.
 */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'gates', order: 'id', isNumbered: false },
  { name: 'gate_instances', order: 'id', isNumbered: true },
  { name: 'gate_papers', order: 'instance_id', isNumbered: false },
  { name: 'gate_reviews', order: 'id', isNumbered: true },
  { name: 'gate_delegations', order: 'id', isNumbered: true },
  { name: 'exceptions', order: 'id', isNumbered: true },
  { name: 'notification_progress', order: 'name', isNumbered: false },
  { name: 'outbox', order: 'id', isNumbered: true },
  { name: 'registry_entries', order: 'id', isNumbered: true },
  { name: 'registry_versions', order: 'entry_id, version', isNumbered: false },
  { name: 'event_queue', order: 'seq', isNumbered: false },
  { name: 'analysis_definitions', order: 'application', isNumbered: false },
  { name: 'analysis_templates', order: 'type, name, sha1', isNumbered: false },
  { name: 'analysis_log_history', order: 'application, key', isNumbered: false },
  { name: 'analysis_plan_parts', order: 'sha256', isNumbered: false },
  { name: 'analysis_runs', order: 'id', isNumbered: true },
  { name: 'analysis_looks', order: 'run_id, look', isNumbered: false },
  {
    name: TRAIL.name,
    order: 'seq',
    isNumbered: false,
    extraColumns: searchWords,
    addPartitions: addTrailMonths,
    afterwards:
      'insert into audit_event_ids (event_id, seq) select event_id, seq from audit where event_id is not null order by seq',
  },
  { name: 'audit_checkpoints', order: 'id', isNumbered: true },
]

async function addTrailMonths(session: Session, rows: readonly CopiedRow[]): Promise<void> {
  const months = rows.map((row) => monthOf(TRAIL.name, Number(row['recorded_ms'])))
  const missing = new Map(months.map((month) => [month.name, month]))
  await addMonths(session, TRAIL, [...missing.values()])
}

function searchWords({ body, body_bytes: bytes }: CopiedRow): CopiedRow {
  return { words: wordVector(unpackBody(body as Uint8Array, Number(bytes))) }
}

export interface CopyOptions {
  /** Folder of `tidegate.db`. No service may run on it. */
  readonly dataDir: string
  readonly settings: PostgresSettings
  /** Secrets by name that are read from files of the data directory and must stay the same. */
  readonly secrets: Readonly<Record<string, string>>
  /** Called from time to time with the number of copied rows of a table. */
  readonly progress: (table: string, rows: number) => void
}

/** Number of copied rows by table. */
export type Copied = Readonly<Record<string, number>>

const TIMEOUTS = { statementMs: 3_600_000, lockMs: 10_000 }
const ROWS_PER_INSERT = 100
const PROGRESS_ROWS = 10_000
const ACTION = 'copy to the database'

/**
 * Copies all records of `tidegate.db` into an empty database in one transaction. The links of the
 * chain stay the same. Raises AppError `conflict` for a database with records, and `unavailable`
 * for a store that cannot be read or written.
 */
export async function copyRecords({ dataDir, settings, secrets, progress }: CopyOptions): Promise<Copied> {
  const path = join(dataDir, 'tidegate.db')
  await prepareFile(path)
  await migrate(settings, serviceSchema)
  const source = openReadOnly(serviceDatabaseOptions(path))
  const session = new Session(settings, TIMEOUTS)
  try {
    await session.script('begin')
    const counts: Record<string, number> = {}
    for (const table of COPIED_TABLES) {
      await requireEmpty(session, table)
      counts[table.name] = await copyTable(source, session, table, progress)
    }
    for (const [name, value] of Object.entries(secrets)) {
      await run(session, 'insert into shared_secrets (name, value) values ($1, $2)', [name, value])
    }
    await session.script('commit')
    return counts
  } catch (raw) {
    throw toStoreError(ACTION, raw)
  } finally {
    source.close()
    await session.close()
  }
}

async function requireEmpty(session: Session, { name }: CopiedTable): Promise<void> {
  if ((await first(session, `select 1 from ${name} limit 1`)) === undefined) return
  throw new AppError('conflict', `the database holds records already (in ${name}): copy into an empty one`)
}

async function copyTable(
  source: Database,
  session: Session,
  table: CopiedTable,
  progress: CopyOptions['progress'],
): Promise<number> {
  const { name, order, isNumbered, extraColumns } = table
  let rows: CopiedRow[] = []
  let count = 0
  for (const row of source.prepare(`select * from ${name} order by ${order}`).iterate()) {
    const copied = row as CopiedRow
    rows.push({ ...copied, ...extraColumns?.(copied) })
    count += 1
    if (rows.length === ROWS_PER_INSERT) {
      await insert(session, table, rows)
      rows = []
    }
    if (count % PROGRESS_ROWS === 0) progress(name, count)
  }
  if (rows.length > 0) await insert(session, table, rows)
  if (table.afterwards !== undefined) await run(session, table.afterwards)
  if (isNumbered) await continueNumbers(source, session, name)
  return count
}

async function insert(
  session: Session,
  { name, addPartitions }: CopiedTable,
  rows: readonly CopiedRow[],
): Promise<void> {
  await addPartitions?.(session, rows)
  const columns = Object.keys(rows[0] ?? {})
  const values: unknown[] = []
  const lists = rows.map((row) => {
    const placeholders = columns.map((column) => `$${values.push(asStored(column, row[column]))}`)
    return `(${placeholders.join(', ')})`
  })
  const quoted = columns.map((column) => `"${column}"`).join(', ')
  await run(session, `insert into ${name} (${quoted}) values ${lists.join(', ')}`, values)
}

/** Rounds times, since SQLite may have stored fractions of a millisecond. */
function asStored(column: string, value: unknown): unknown {
  return column.endsWith('_ms') && typeof value === 'number' ? Math.round(value) : value
}

/**
 * Continues the numbering of SQLite, so that no number is given twice, even if its row was deleted.
 */
async function continueNumbers(source: Database, session: Session, name: string): Promise<void> {
  const highest = source.prepare<[], number | null>(`select max(id) from ${name}`).pluck().get() ?? 0
  const given = source
    .prepare<[string], number>('select seq from sqlite_sequence where name = ?')
    .pluck()
    .get(name)
  const last = Math.max(highest, given ?? 0)
  if (last > 0) {
    await run(session, "select setval(pg_get_serial_sequence($1, 'id'), $2)", [name, last])
  }
}
