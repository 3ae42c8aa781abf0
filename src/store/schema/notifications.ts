import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { ColumnTypes } from './column-types.js'

/** Progress of the notifications about records of the trail, in one row. */
export async function createNotifications(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await sql`create table notification_progress (name ${text} primary key, progress ${text} not null)`.execute(
    db,
  )
}
