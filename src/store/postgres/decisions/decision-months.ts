import { LOCK_CLASS } from '../engine/migrate.js'
import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'

const ADDING_MONTHS = 3
const COMING_MONTHS = 12
const TIMEOUTS = { statementMs: 30_000, lockMs: 10_000 }
const NAME = /^decisions_(\d{4,6})_(\d{2})$/

/** A month of the decision log, which is a table of its own. */
export interface DecisionMonth {
  readonly name: string
  readonly fromMs: number
  /** The beginning of the next one. */
  readonly toMs: number
}

/** The month in UTC that a time is in, or one so many months later. */
export function decisionMonth(timeMs: number, later = 0): DecisionMonth {
  const time = new Date(timeMs)
  const fromMs = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + later)
  const from = new Date(fromMs)
  const month = from.getUTCMonth() + 1
  const name = `decisions_${String(from.getUTCFullYear()).padStart(4, '0')}_${String(month).padStart(2, '0')}`
  return { name, fromMs, toMs: Date.UTC(from.getUTCFullYear(), month) }
}

/** Makes the tables of this month and of twelve to come. Raises AppError `unavailable`. */
export async function addComingMonths(settings: PostgresSettings, nowMs: number): Promise<void> {
  const session = new Session(settings, TIMEOUTS)
  try {
    const months = Array.from({ length: COMING_MONTHS + 1 }, (_, later) => decisionMonth(nowMs, later))
    await addDecisionMonths(session, months)
  } catch (raw) {
    throw toStoreError('make room for decisions in the database', raw)
  } finally {
    await session.close()
  }
}

/** Makes the tables of months that have none. Others that do the same wait; nobody who reads or writes does. */
export async function addDecisionMonths(session: Session, months: readonly DecisionMonth[]): Promise<void> {
  await session.script('begin')
  await session.query('select pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, ADDING_MONTHS])
  for (const { name, fromMs, toMs } of months) {
    if ((await first(session, 'select 1 from pg_class where oid = to_regclass($1)', [name])) !== undefined)
      continue
    // Made aside and then put in place: to make it in place would wait for everybody who reads, and have others wait.
    await session.script(
      `create table ${name} (like decisions including defaults including constraints including indexes including storage);
       alter table decisions attach partition ${name} for values from (${fromMs}) to (${toMs})`,
    )
  }
  await session.script('commit')
}

/** Removes the months that ended before a time; returns how many. */
export async function removeDecisionMonths(queries: Queries, beforeMs: number): Promise<number> {
  const rows = await all<{ name: string }>(
    queries,
    `select child.relname as name from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = 'decisions'::regclass order by child.relname`,
  )
  const old = rows.filter(({ name }) => {
    const [, year, month] = NAME.exec(name) ?? []
    return year !== undefined && Date.UTC(Number(year), Number(month)) <= beforeMs
  })
  for (const { name } of old) await run(queries, `drop table if exists ${name}`)
  return old.length
}
