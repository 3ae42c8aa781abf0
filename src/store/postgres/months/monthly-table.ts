import { DatabaseError } from 'pg'
import { LOCK_CLASS } from '../engine/migrate.js'
import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import type { Queries } from '../engine/session.js'
import { all } from '../engine/statements.js'
import { readPart, monthOf } from './month.js'
import type { Month, Part } from './month.js'

/** A table partitioned by month. */
export interface MonthlyTable {
  readonly name: string
  /** SQL for the parts of a month's table that partitions do not inherit. */
  readonly extraSql?: (month: string) => string
}

const ADDING_MONTHS = 3
/** Lock timeout of a removal. Readers of the table wait for it. */
const REMOVING_LOCK_TIMEOUT = '500ms'
const LOCK_NOT_AVAILABLE = '55P03'
const CHECK_VIOLATION = '23514'

/**
 * Creates missing months, within a transaction that sees concurrent commits. Only other calls of
 * this function wait.
 */
export async function addMonths(
  session: Session,
  { name: table, extraSql }: MonthlyTable,
  months: readonly Month[],
): Promise<void> {
  await session.script(`select pg_advisory_xact_lock(${LOCK_CLASS}, ${ADDING_MONTHS})`)
  const parts = await listParts(session, table)
  for (const month of months) {
    if (parts.some((part) => isWithin(month, part))) continue
    const { name, fromMs, toMs } = month
    // The table is created on its own and then attached: creating it as a partition would lock out
    // readers.
    await session.script(
      `create table ${name} (like ${table} including defaults including constraints including indexes including storage);
       ${extraSql?.(name) ?? ''}
       alter table ${table} attach partition ${name} for values from (${fromMs}) to (${toMs})`,
    )
  }
}

/** Runs `addMonths` in its own transaction. After a failure the caller rolls back. */
export async function addMonthsAlone(
  session: Session,
  table: MonthlyTable,
  months: readonly Month[],
): Promise<void> {
  await session.script('begin isolation level read committed')
  await addMonths(session, table, months)
  await session.script('commit')
}

/** Returns the partitions of a table, oldest first. */
export async function listParts(queries: Queries, table: string): Promise<readonly Part[]> {
  const rows = await all<{ name: string }>(
    queries,
    `select child.relname as name from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = to_regclass($1)`,
    [table],
  )
  return rows.flatMap(({ name }) => readPart(table, name) ?? []).sort((one, other) => one.toMs - other.toMs)
}

/**
 * Drops a partition within a transaction. Returns false if a long read prevents it, since later
 * readers would have to wait, too.
 */
export async function removePart(session: Session, { name }: Part): Promise<boolean> {
  await session.script(`savepoint removal; set local lock_timeout = '${REMOVING_LOCK_TIMEOUT}'`)
  try {
    await session.script(
      `drop table if exists ${name}; set local lock_timeout to default; release savepoint removal`,
    )
    return true
  } catch (raw) {
    if (!(raw instanceof DatabaseError) || raw.code !== LOCK_NOT_AVAILABLE) throw raw
    await session.script('rollback to savepoint removal; release savepoint removal')
    return false
  }
}

/** Whether an insert failed because its month has no partition. */
export function isMonthMissing(raw: unknown, table: string): boolean {
  if (!(raw instanceof DatabaseError)) return false
  return raw.code === CHECK_VIOLATION && raw.constraint === undefined && raw.table === table
}

function isWithin({ fromMs, toMs }: Month, part: Part): boolean {
  return toMs <= part.toMs && (part.fromMs === undefined || fromMs >= part.fromMs)
}

const COMING_MONTHS = 12
const TIMEOUTS = { statementMs: 30_000, lockMs: 10_000 }

/** Creates this month and the next twelve. Raises AppError `unavailable`. */
export async function addComingMonths(
  settings: PostgresSettings,
  tables: readonly MonthlyTable[],
  nowMs: number,
): Promise<void> {
  const session = new Session(settings, TIMEOUTS)
  try {
    for (const table of tables) {
      const months = Array.from({ length: COMING_MONTHS + 1 }, (_, later) =>
        monthOf(table.name, nowMs, later),
      )
      await addMonthsAlone(session, table, months)
    }
  } catch (raw) {
    throw toStoreError('make the tables of coming months in the database', raw)
  } finally {
    await session.close()
  }
}
