import { sql } from 'kysely'
import type { Kysely } from 'kysely'

import type { Migrations } from '../engine/migrate.js'

/**
 * The outcomes with an index of their own, as literals of SQL: of the others nearly every page of the log has some.
 */
export const RARE_OUTCOMES = [sql.lit('deny'), sql.lit('error'), sql.lit('undefined')]

/** The schema of the decision log. */
export const decisionMigrations: Migrations = {
  '0001-decisions': { up: createDecisions },
  '0002-executions': { up: addExecutions },
  '0003-shipping': { up: createShipping },
  '0004-nd-builtin-cache': { up: addBuiltinCache },
  '0005-packages': { up: addPackages },
}

async function createDecisions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('decisions')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('decision_id', 'text', (column) => column.notNull())
    .addColumn('time_ms', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('application', 'text')
    .addColumn('caller', 'text')
    .addColumn('duration_ns', 'bigint', (column) => column.notNull())
    .addColumn('request_id', 'text')
    .addColumn('error', 'text')
    .addColumn('input_bytes', 'bigint')
    .addColumn('input_truncated', 'integer', (column) => column.notNull())
    .addColumn('result_truncated', 'integer', (column) => column.notNull())
    // Last, so that reading the columns before them never reads the pages these overflow to.
    .addColumn('result', 'blob')
    .addColumn('input', 'blob')
    .execute()
  await createDecisionIndexes(db)
}

async function createDecisionIndexes(db: Kysely<unknown>): Promise<void> {
  const index = (name: string) => db.schema.createIndex(`decisions_${name}`).on('decisions')
  await index('by_id').column('decision_id').execute()
  await index('by_time').columns(['time_ms', 'seq']).execute()
  await index('by_path').columns(['path', 'time_ms', 'seq']).execute()
  await index('by_application')
    .columns(['application', 'time_ms', 'seq'])
    .where(sql.ref('application'), 'is not', null)
    .execute()
  await index('by_rare_outcome')
    .columns(['outcome', 'time_ms', 'seq'])
    .where(sql.ref('outcome'), 'in', RARE_OUTCOMES)
    .execute()
}

/** Decisions that were stored before stay without one. */
async function addExecutions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('execution_id', 'text').execute()
  await db.schema
    .createIndex('decisions_by_execution')
    .on('decisions')
    .columns(['execution_id', 'time_ms', 'seq'])
    .where(sql.ref('execution_id'), 'is not', null)
    .execute()
}

/** Decisions that were stored before stay without one. */
async function addBuiltinCache(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('nd_builtin_cache', 'blob').execute()
}

/** Decisions that were stored before stay without them. */
async function addPackages(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('packages', 'blob').execute()
}

/** Stays empty where the log is not shipped. */
async function createShipping(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('shipping')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('through_seq', 'integer', (column) => column.notNull())
    .addColumn('missing', 'integer', (column) => column.notNull())
    .execute()
}
