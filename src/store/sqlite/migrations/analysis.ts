import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Canary analyses: how they are done, their runs, and what each look at the data gave. */
export async function createAnalysis(db: Kysely<unknown>): Promise<void> {
  await createSettings(db)
  await createRuns(db)
}

async function createSettings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('analysis_definitions')
    .addColumn('application', 'text', (column) => column.primaryKey())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('updated_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_by', 'text')
    .execute()
  await db.schema
    .createTable('analysis_templates')
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('sha1', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('analysis_templates_key', ['type', 'name', 'sha1'])
    .execute()
  await db.schema
    .createTable('analysis_log_history')
    .addColumn('application', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('first_run', 'integer', (column) => column.notNull())
    .addColumn('last_run', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('analysis_log_history_key', ['application', 'key'])
    .execute()
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('analysis_runs')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('application', 'text', (column) => column.notNull())
    .addColumn('execution_id', 'text')
    .addColumn('owner', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('started_ms', 'bigint', (column) => column.notNull())
    .addColumn('looks', 'integer', (column) => column.notNull())
    .addColumn('looks_done', 'integer', (column) => column.notNull())
    .addColumn('next_look_ms', 'bigint', (column) => column.notNull())
    .addColumn('score', 'real')
    .addColumn('verdict', 'text')
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('errors', 'text', (column) => column.notNull())
    .addColumn('finished_ms', 'bigint')
    .addColumn('updated_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('analysis_looks')
    .addColumn('run_id', 'integer', (column) => column.notNull().references('analysis_runs.id'))
    .addColumn('look', 'integer', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('report', 'blob', (column) => column.notNull())
    .addColumn('data', 'blob', (column) => column.notNull())
    .addColumn('lines', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('analysis_looks_key', ['run_id', 'look'])
    .execute()
  const index = (name: string) => db.schema.createIndex(`analysis_runs_${name}`).on('analysis_runs')
  await index('by_application').columns(['application', 'id']).execute()
  await index('running').column('id').where(sql.ref('state'), '=', sql.lit('RUNNING')).execute()
  await index('by_execution').column('execution_id').where(sql.ref('execution_id'), 'is not', null).execute()
}
