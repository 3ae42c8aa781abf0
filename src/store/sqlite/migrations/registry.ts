import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Applications and pipelines with all their versions. */
export async function createRegistry(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_entries')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('application_key', 'text', (column) => column.notNull())
    .addColumn('application', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('pipeline_id', 'text')
    .addColumn('digest', 'text')
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .addColumn('changed_by', 'text')
    .addColumn('recorded_ms', 'bigint', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute()
  const index = (name: string) => db.schema.createIndex(`registry_${name}`).on('registry_entries')
  await index('by_key').columns(['kind', 'key']).execute()
  await index('by_name').columns(['kind', 'application_key', 'name', 'id']).execute()
  await index('by_pipeline_id')
    .column('pipeline_id')
    .unique()
    .where(sql.ref('pipeline_id'), 'is not', null)
    .execute()
  await db.schema
    .createTable('registry_versions')
    .addColumn('entry_id', 'integer', (column) => column.notNull().references('registry_entries.id'))
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .addColumn('changed_by', 'text')
    .addColumn('recorded_ms', 'bigint', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('seq', 'integer')
    .addColumn('definition_bytes', 'integer')
    .addColumn('definition', 'blob')
    .addPrimaryKeyConstraint('registry_versions_key', ['entry_id', 'version'])
    .execute()
}
