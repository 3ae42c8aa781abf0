import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Messages that must reach others. */
export async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('webhook_id', 'text', (column) => column.notNull().unique())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('receiver', 'text', (column) => column.notNull())
    .addColumn('headers', 'text')
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('subject', 'text')
    .addColumn('application', 'text')
    .addColumn('execution_id', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('tried_since_ms', 'bigint', (column) => column.notNull())
    .addColumn('next_attempt_ms', 'bigint', (column) => column.notNull())
    .addColumn('leased_until_ms', 'bigint')
    .addColumn('last_status', 'integer')
    .addColumn('last_error', 'text')
    .addColumn('settled_ms', 'bigint')
    .execute()
  const index = (name: string) => db.schema.createIndex(`outbox_${name}`).on('outbox')
  // By receiver first: what waits for one receiver is never read to find what waits for another.
  await index('pending')
    .columns(['receiver', 'next_attempt_ms'])
    .where(sql.ref('state'), '=', sql.lit('pending'))
    .execute()
  await index('given_up').column('id').where(sql.ref('state'), '=', sql.lit('given_up')).execute()
  await index('by_subject').column('subject').where(sql.ref('subject'), 'is not', null).execute()
  await index('settled').column('settled_ms').where(sql.ref('settled_ms'), 'is not', null).execute()
}
