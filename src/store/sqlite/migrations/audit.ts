import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** The audit trail. */
export async function createAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('time_ms', 'bigint', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('application', 'text')
    .addColumn('pipeline', 'text')
    .addColumn('execution_id', 'text')
    .addColumn('stage', 'text')
    .addColumn('user', 'text')
    .addColumn('status', 'text')
    .addColumn('origin', 'text')
    .addColumn('event_id', 'text')
    .addColumn('hash', 'blob', (column) => column.notNull())
    .addColumn('body', 'blob', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('audit_by_event')
    .on('audit')
    .column('event_id')
    .unique()
    .where(sql.ref('event_id'), 'is not', null)
    .execute()
}
