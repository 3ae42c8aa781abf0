import type { Kysely } from 'kysely'

/** Events that are kept, but not acted on yet. */
export async function createEventQueue(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_queue')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .execute()
}
