import { sql } from 'kysely'
import type { Kysely } from 'kysely'

import type { Migrations } from '../engine/migrate.js'

/**
 * Outcomes with an index of their own, as SQL literals. Other outcomes occur on nearly every page
 * of the log.
 */
export const RARE_OUTCOMES = [sql.lit('deny'), sql.lit('error'), sql.lit('undefined')]

/** The schema of the decision log. */
export const decisionMigrations: Migrations = {
  '0001-decisions': { up: createDecisions },
  '0002-executions': { up: addExecutions },
  '0003-shipping': { up: createShipping },
  '0004-nd-builtin-cache': { up: addBuiltinCache },
  '0005-packages': { up: addPackages },
  '0006-denying-packages': { up: createDenyingPackages },
  '0007-packed-inputs': { up: createPackedInputs },
  '0008-receivers': { up: addReceivers },
  '0009-traces': { up: addTraces },
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
    // Last, so that reading the columns before them does not read their overflow pages.
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

/** Earlier decisions have no execution. */
async function addExecutions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('execution_id', 'text').execute()
  await db.schema
    .createIndex('decisions_by_execution')
    .on('decisions')
    .columns(['execution_id', 'time_ms', 'seq'])
    .where(sql.ref('execution_id'), 'is not', null)
    .execute()
}

/** Earlier decisions have no cache of built-ins. */
async function addBuiltinCache(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('nd_builtin_cache', 'blob').execute()
}

/** Earlier decisions have no packages. */
async function addPackages(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('packages', 'blob').execute()
}

/**
 * One row per package that a decision names, in the order of a package's pages. Triggers maintain
 * it for every writer.
 */
async function createDenyingPackages(db: Kysely<unknown>): Promise<void> {
  await sql`create table decision_packages (package text not null, time_ms bigint not null, seq integer not null,
    primary key (package, time_ms, seq)) without rowid`.execute(db)
  const added = (row: string) =>
    sql.raw(`insert or ignore into decision_packages (package, time_ms, seq)
    select named.value ->> '$.package', ${row}.time_ms, ${row}.seq`)
  await sql`${added('decisions')} from decisions, ${namedIn('decisions')}
    where outcome = 'deny' and ${IS_NAMED}`.execute(db)
  await sql`create trigger decisions_add_packages after insert on decisions when new.packages is not null begin
    ${added('new')} from ${namedIn('new')} where ${IS_NAMED};
  end`.execute(db)
  await sql`create trigger decisions_remove_packages after delete on decisions when old.packages is not null begin
    delete from decision_packages where time_ms = old.time_ms and seq = old.seq
      and package in (select named.value ->> '$.package' from ${namedIn('old')});
  end`.execute(db)
}

/**
 * The elements of the packages of a row; none if they are not JSON. The bytes are cast, since
 * SQLite takes some for JSONB.
 */
function namedIn(row: string) {
  const text = `cast(${row}.packages as text)`
  return sql.raw(`json_each(case when json_valid(${text}) then ${text} else '[]' end) as named`)
}

/** The last element may count packages that are left out. */
const IS_NAMED = sql.raw("named.value ->> '$.package' is not null")

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

/**
 * Text of inputs in groups (`input-groups.ts`). Earlier decisions have their input in the column.
 * Numbers of groups are never used again, since readers cache their text.
 */
async function createPackedInputs(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('input_extents', 'blob').execute()
  await sql`create table input_groups (id integer primary key autoincrement, needed_through integer not null)`.execute(
    db,
  )
  await sql`create index input_groups_by_need on input_groups (needed_through)`.execute(db)
  await sql`create table input_pieces (id integer primary key, bytes blob not null)`.execute(db)
  await sql`create trigger input_groups_remove_pieces after delete on input_groups begin
    delete from input_pieces where id >= old.id * 1024 and id < (old.id + 1) * 1024;
  end`.execute(db)
}

/** Earlier decisions have no trace. */
async function addTraces(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('trace_id', 'text').execute()
}

/** The former position is that of the shared log. */
async function addReceivers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('shipping')
    .addColumn('receiver', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.createIndex('shipping_by_receiver').on('shipping').column('receiver').unique().execute()
}
