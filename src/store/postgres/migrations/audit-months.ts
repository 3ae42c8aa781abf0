import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { TEXT } from '../engine/migrate.js'
import { partBefore } from '../months/month.js'
import { TRAIL } from '../audit/trail-months.js'
import { createSearchIndexes, refuseChange, refuseRemoval, SEARCHED } from './audit.js'

const INDEXES = ['by_time', 'by_words', ...SEARCHED.map((column) => `by_${column}`)]

/**
 * Partitions the trail by month of storage. The existing table becomes the first partition, up to
 * the end of the current month or of its last record. No record is copied and no link changes.
 */
export async function partAudit(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{
    last_ms: number
    is_empty: boolean
  }>`select not exists (select from audit) as is_empty,
    greatest(floor(extract(epoch from clock_timestamp()) * 1000)::int8, (select max(recorded_ms) from audit)) as last_ms`.execute(
    db,
  )
  const { last_ms: lastMs = 0, is_empty: isEmpty = false } = rows[0] ?? {}
  const before = partBefore(TRAIL.name, lastMs)
  await renameTable(db, before.name)
  await createParted(db, before.name)
  await createEventIds(db, before.name)
  if (isEmpty) await sql`drop table ${sql.table(before.name)}`.execute(db)
  else {
    await sql`alter table audit attach partition ${sql.table(before.name)}
      for values from (minvalue) to (${sql.lit(before.toMs)})`.execute(db)
  }
}

/** Renames indexes and triggers to free their names for the partitioned table. */
async function renameTable(db: Kysely<unknown>, name: string): Promise<void> {
  const table = sql.table(name)
  await sql`alter table audit rename to ${table}`.execute(db)
  for (const index of INDEXES) {
    await sql`alter index ${sql.id(`audit_${index}`)} rename to ${sql.id(`${name}_${index}`)}`.execute(db)
  }
  await sql`drop index audit_event_once`.execute(db)
  await sql`drop trigger audit_never_shrinks on ${table}`.execute(db)
  await sql`drop trigger audit_never_changes on ${table}`.execute(db)
  await sql`alter trigger audit_is_never_emptied on ${table} rename to ${sql.id(`${name}_is_never_emptied`)}`.execute(
    db,
  )
  await sql`alter table ${table} drop constraint audit_pkey, add constraint ${sql.id(`${name}_pkey`)} primary key (seq, recorded_ms)`.execute(
    db,
  )
}

async function createParted(db: Kysely<unknown>, like: string): Promise<void> {
  await sql`create table audit (like ${sql.table(like)} including storage, primary key (seq, recorded_ms))
    partition by range (recorded_ms)`.execute(db)
  await createSearchIndexes(db)
  await refuseRemoval(db)
  await refuseChange(db, 'audit')
}

/**
 * A unique constraint of a partitioned table must include the time, so event ids have a table of
 * their own.
 */
async function createEventIds(db: Kysely<unknown>, from: string): Promise<void> {
  await sql`create table audit_event_ids (event_id ${TEXT} primary key, seq bigint not null)`.execute(db)
  await sql`insert into audit_event_ids select event_id, seq from ${sql.table(from)} where event_id is not null order by seq`.execute(
    db,
  )
  await sql`create index audit_event_ids_by_seq on audit_event_ids (seq)`.execute(db)
}
