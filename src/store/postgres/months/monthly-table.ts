import { DatabaseError } from 'pg'
import { LOCK_CLASS } from '../engine/migrate.js'
import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import type { Queries } from '../engine/session.js'
import { all } from '../engine/statements.js'
import { readPart, monthOf } from './month.js'
import type { Month, Part } from './month.js'

/** A table that is parted by months. */
export interface MonthlyTable {
  readonly name: string
  /** What each month's own table needs that it does not have from the whole. */
  readonly furnish?: (month: string) => string
}

const ADDING_MONTHS = 3
/** Whoever reads the table meanwhile waits as long as this does: others come after them. */
const REMOVING_LOCK_TIMEOUT = '500ms'
const LOCK_NOT_AVAILABLE = '55P03'
const CHECK_VIOLATION = '23514'

/** Makes the tables of months that have none, within a transaction that sees what others commit meanwhile. Others that do the same wait; nobody who reads or writes does. */
export async function addMonths(
  session: Session,
  { name: table, furnish }: MonthlyTable,
  months: readonly Month[],
): Promise<void> {
  await session.script(`select pg_advisory_xact_lock(${LOCK_CLASS}, ${ADDING_MONTHS})`)
  const parts = await listParts(session, table)
  for (const month of months) {
    if (parts.some((part) => isWithin(month, part))) continue
    const { name, fromMs, toMs } = month
    // Made aside and then put in place: to make it in place would wait for everybody who reads, and have others wait.
    await session.script(
      `create table ${name} (like ${table} including defaults including constraints including indexes including storage);
       ${furnish?.(name) ?? ''}
       alter table ${table} attach partition ${name} for values from (${fromMs}) to (${toMs})`,
    )
  }
}

/** The same in a transaction of its own; what is left of one that fails is to be rolled back. */
export async function addMonthsAlone(
  session: Session,
  table: MonthlyTable,
  months: readonly Month[],
): Promise<void> {
  await session.script('begin isolation level read committed')
  await addMonths(session, table, months)
  await session.script('commit')
}

/** The parts that a table has, oldest first. */
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
 * Removes a part, within a transaction, with all that is in it; returns whether it could: not while somebody reads the table for long,
 * since all who came later would wait, too.
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

/** Whether a row was for a month that a table has no part for. */
export function isMonthMissing(raw: unknown, table: string): boolean {
  if (!(raw instanceof DatabaseError)) return false
  return raw.code === CHECK_VIOLATION && raw.constraint === undefined && raw.table === table
}

function isWithin({ fromMs, toMs }: Month, part: Part): boolean {
  return toMs <= part.toMs && (part.fromMs === undefined || fromMs >= part.fromMs)
}

const COMING_MONTHS = 12
const TIMEOUTS = { statementMs: 30_000, lockMs: 10_000 }

/** Makes the tables of this month and of twelve to come. Raises AppError `unavailable`. */
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
