import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { ColumnTypes } from './column-types.js'

/** Messages that must reach their receivers. */
export async function createOutbox(db: Kysely<unknown>, { text, numbered }: ColumnTypes): Promise<void> {
  await sql`create table outbox (
    id ${numbered}, webhook_id ${text} not null unique, topic ${text} not null, url ${text} not null,
    receiver ${text} not null, headers ${text}, body ${text} not null, subject ${text}, application ${text},
    execution_id ${text}, state ${text} not null, attempts integer not null, created_ms bigint not null,
    tried_since_ms bigint not null, next_attempt_ms bigint not null, leased_until_ms bigint, last_status integer,
    last_error ${text}, settled_ms bigint)`.execute(db)
  const index = (name: string) => db.schema.createIndex(`outbox_${name}`).on('outbox')
  // The receiver comes first: messages to one receiver are never read to find those to another.
  await index('pending')
    .columns(['receiver', 'next_attempt_ms'])
    .where(sql.ref('state'), '=', sql.lit('pending'))
    .execute()
  await index('given_up').column('id').where(sql.ref('state'), '=', sql.lit('given_up')).execute()
  await index('by_subject').column('subject').where(sql.ref('subject'), 'is not', null).execute()
  await index('settled').column('settled_ms').where(sql.ref('settled_ms'), 'is not', null).execute()
}

/** Applications and pipelines with all their versions. */
export async function createRegistry(
  db: Kysely<unknown>,
  { text, bytes, numbered }: ColumnTypes,
): Promise<void> {
  await sql`create table registry_entries (
    id ${numbered}, kind ${text} not null, key ${text} not null, application_key ${text} not null,
    application ${text} not null, name ${text} not null, pipeline_id ${text}, digest ${text}, changed_ms bigint not null,
    changed_by ${text}, recorded_ms bigint not null, version integer not null)`.execute(db)
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
    changed_by ${text}, recorded_ms bigint not null, source ${text} not null, seq bigint, definition_bytes integer,
    definition ${bytes}, primary key (entry_id, version))`.execute(db)
}
