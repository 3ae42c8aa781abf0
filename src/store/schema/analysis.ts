import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { ColumnTypes } from './column-types.js'

type Db = Kysely<unknown>

/**
 * Definitions and templates of canary analyses, their runs, and the intervals of a run (`looks`).
 */
export async function createAnalysis(db: Db, { text, bytes, numbered }: ColumnTypes): Promise<void> {
  await sql`create table analysis_definitions (
    application ${text} primary key, definition ${text} not null, origin ${text} not null, updated_ms bigint not null,
    updated_by ${text})`.execute(db)
  await sql`create table analysis_templates (
    type ${text} not null, name ${text} not null, sha1 ${text} not null, body ${text} not null, created_ms bigint not null,
    primary key (type, name, sha1))`.execute(db)
  await sql`create table analysis_log_history (
    application ${text} not null, key ${text} not null, first_run integer not null, last_run integer not null,
    primary key (application, key))`.execute(db)
  await sql`create table analysis_runs (
    id ${numbered}, application ${text} not null, execution_id ${text}, owner ${text}, state ${text} not null,
    plan ${text} not null, started_ms bigint not null, looks integer not null, looks_done integer not null,
    next_look_ms bigint not null, score double precision, verdict ${text}, message ${text} not null,
    errors ${text} not null, finished_ms bigint, updated_ms bigint not null)`.execute(db)
  await sql`create table analysis_looks (
    run_id integer not null references analysis_runs (id), look integer not null, at_ms bigint not null,
    report ${bytes} not null, data ${bytes} not null, lines ${bytes} not null, primary key (run_id, look))`.execute(
    db,
  )
  await runIndex(db, 'by_application').columns(['application', 'id']).execute()
  await runIndex(db, 'running').column('id').where(sql.ref('state'), '=', sql.lit('RUNNING')).execute()
  await runIndex(db, 'by_execution')
    .column('execution_id')
    .where(sql.ref('execution_id'), 'is not', null)
    .execute()
}

function runIndex(db: Db, name: string) {
  return db.schema.createIndex(`analysis_runs_${name}`).on('analysis_runs')
}

/**
 * The time at which the data of a run was removed, and an index of the runs that still have data,
 * by their end.
 */
export async function addAnalysisRetention(db: Db): Promise<void> {
  await sql`alter table analysis_runs add column data_removed_ms bigint`.execute(db)
  await runIndex(db, 'kept')
    .columns(['finished_ms', 'id'])
    .where(sql.ref('finished_ms'), 'is not', null)
    .where(sql.ref('data_removed_ms'), 'is', null)
    .where(sql.ref('looks_done'), '>', sql.lit(0))
    .execute()
}

/** How often the next interval was begun without an end: each time the process died with it. */
export async function addLookAttempts(db: Db): Promise<void> {
  await sql`alter table analysis_runs add column look_attempts integer not null default 0`.execute(db)
}

/**
 * Parts that many plans share, such as the metrics of a template. Earlier plans hold all of their
 * parts themselves.
 */
export async function createPlanParts(db: Db, { text }: ColumnTypes): Promise<void> {
  await sql`create table analysis_plan_parts (sha256 ${text} primary key, body ${text} not null)`.execute(db)
}

/**
 * Why the score of a run says nothing, and what a person says about its verdict, as JSON, with an
 * index of the runs that have such a judgement.
 */
export async function addFeedback(db: Db, { text }: ColumnTypes): Promise<void> {
  await sql`alter table analysis_runs add column unscored ${text}`.execute(db)
  await sql`alter table analysis_runs add column feedback ${text}`.execute(db)
  await runIndex(db, 'with_feedback')
    .columns(['application', 'id'])
    .where(sql.ref('feedback'), 'is not', null)
    .execute()
}

/**
 * Whether a template is found by its name alone. One that was sent without the right to replace
 * others is not.
 */
export async function addNamedTemplates(db: Db): Promise<void> {
  await sql`alter table analysis_templates add column is_named integer not null default 1`.execute(db)
}
