import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { NUMBERED, TEXT } from '../engine/migrate.js'

/** Applications and pipelines with all their versions, and the events that are still to be acted on. */
export async function createRegistry(db: Kysely<unknown>): Promise<void> {
  await sql`create table registry_entries (
    id ${NUMBERED}, kind ${TEXT} not null, key ${TEXT} not null, application_key ${TEXT} not null, application ${TEXT} not null,
    name ${TEXT} not null, pipeline_id ${TEXT}, digest ${TEXT}, changed_ms bigint not null, changed_by ${TEXT},
    recorded_ms bigint not null, version integer not null)`.execute(db)
  const index = (name: string) => db.schema.createIndex(`registry_${name}`).on('registry_entries')
  await index('by_key').columns(['kind', 'key']).execute()
  await index('by_name').columns(['kind', 'application_key', 'name', 'id']).execute()
  await index('by_pipeline_id')
    .column('pipeline_id')
    .unique()
    .where(sql.ref('pipeline_id'), 'is not', null)
    .execute()
  await sql`create table registry_versions (
    entry_id integer not null references registry_entries (id), version integer not null, changed_ms bigint not null,
    changed_by ${TEXT}, recorded_ms bigint not null, source ${TEXT} not null, seq bigint, definition_bytes integer,
    definition bytea, primary key (entry_id, version))`.execute(db)
  await sql`create table event_queue (seq bigint primary key)`.execute(db)
}
