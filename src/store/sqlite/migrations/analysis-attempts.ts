import type { Kysely } from 'kysely'

/** How often the look that is due was begun without coming to an end: each time the process died with it. */
export async function addLookAttempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('analysis_runs')
    .addColumn('look_attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
