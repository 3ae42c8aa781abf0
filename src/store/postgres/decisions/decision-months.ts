import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import { listParts, removePart } from '../months/monthly-table.js'
import type { MonthlyTable } from '../months/monthly-table.js'

/** The decision log of all replicas. */
export const DECISIONS: MonthlyTable = { name: 'decisions' }

const TIMEOUTS = { statementMs: 30_000, lockMs: 10_000 }

/**
 * Removes months that ended before a time. Returns the number of removed months. A month that is
 * being read for long stays until the next call.
 */
export async function removeDecisionMonths(settings: PostgresSettings, beforeMs: number): Promise<number> {
  const session = new Session(settings, TIMEOUTS)
  try {
    let removed = 0
    for (const part of await listParts(session, DECISIONS.name)) {
      if (part.toMs > beforeMs) break
      await session.script('begin')
      const isGone = await removePart(session, part)
      if (isGone) await session.query('delete from decision_packages where time_ms < $1', [part.toMs])
      await session.script('commit')
      if (!isGone) break
      removed += 1
    }
    return removed
  } finally {
    await session.close()
  }
}

/** Condition of the partial index of rare outcomes. A query must repeat it word by word. */
export const RARE_OUTCOMES = "outcome in ('deny', 'error', 'undefined')"
