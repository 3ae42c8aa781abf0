import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import { monthOf } from './month.js'
import { addMonthsAlone } from './monthly-table.js'
import type { MonthlyTable } from './monthly-table.js'

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
