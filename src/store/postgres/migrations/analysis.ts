import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { NUMBERED, TEXT } from '../engine/migrate.js'

/** Canary analyses: how they are done, their runs, and what each look at the data gave. */
export async function createAnalysis(db: Kysely<unknown>): Promise<void> {
  await sql`create table analysis_definitions (
    application ${TEXT} primary key, definition ${TEXT} not null, origin ${TEXT} not null, updated_ms bigint not null,
    updated_by ${TEXT})`.execute(db)
  await sql`create table analysis_templates (
    type ${TEXT} not null, name ${TEXT} not null, sha1 ${TEXT} not null, body ${TEXT} not null, created_ms bigint not null,
    primary key (type, name, sha1))`.execute(db)
  await sql`create table analysis_log_history (
    application ${TEXT} not null, key ${TEXT} not null, first_run integer not null, last_run integer not null,
    primary key (application, key))`.execute(db)
  await sql`create table analysis_plan_parts (sha256 ${TEXT} primary key, body ${TEXT} not null)`.execute(db)
  await sql`create table analysis_runs (
    id ${NUMBERED}, application ${TEXT} not null, execution_id ${TEXT}, owner ${TEXT}, state ${TEXT} not null,
    plan ${TEXT} not null, started_ms bigint not null, looks integer not null, looks_done integer not null,
    next_look_ms bigint not null, score double precision, verdict ${TEXT}, message ${TEXT} not null, errors ${TEXT} not null,
    finished_ms bigint, updated_ms bigint not null, data_removed_ms bigint, look_attempts integer not null default 0)`.execute(
    db,
  )
  await sql`create table analysis_looks (
    run_id integer not null references analysis_runs (id), look integer not null, at_ms bigint not null,
    report bytea not null, data bytea not null, lines bytea not null, primary key (run_id, look))`.execute(db)
  await createRunIndexes(db)
}

/** Whether a template is found by its name alone: one that came without the right to replace is not. */
export async function addNamedTemplates(db: Kysely<unknown>): Promise<void> {
  await sql`alter table analysis_templates add column is_named integer not null default 1`.execute(db)
}

async function createRunIndexes(db: Kysely<unknown>): Promise<void> {
  const index = (name: string) => db.schema.createIndex(`analysis_runs_${name}`).on('analysis_runs')
  await index('by_application').columns(['application', 'id']).execute()
  await index('running').column('id').where(sql.ref('state'), '=', sql.lit('RUNNING')).execute()
  await index('by_execution').column('execution_id').where(sql.ref('execution_id'), 'is not', null).execute()
  await index('kept')
    .columns(['finished_ms', 'id'])
    .where(sql.ref('finished_ms'), 'is not', null)
    .where(sql.ref('data_removed_ms'), 'is', null)
    .where(sql.ref('looks_done'), '>', sql.lit(0))
    .execute()
}
