import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { TEXT } from '../engine/migrate.js'

/** Leases, and secrets that are the same in all replicas. */
export async function createSharing(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('kind', TEXT, (column) => column.notNull())
    .addColumn('key', TEXT, (column) => column.notNull())
    .addColumn('owner', TEXT, (column) => column.notNull())
    .addColumn('until', 'timestamptz', (column) => column.notNull())
    .addPrimaryKeyConstraint('leases_key', ['kind', 'key'])
    .execute()
  await db.schema.createIndex('leases_by_owner').on('leases').column('owner').execute()
  await db.schema
    .createTable('shared_secrets')
    .addColumn('name', TEXT, (column) => column.primaryKey())
    .addColumn('value', TEXT, (column) => column.notNull())
    .execute()
  await sql`create table store_schema (version integer not null, oldest_writer integer not null)`.execute(db)
  await sql`insert into store_schema values (0, 0)`.execute(db)
}

/** Browsers that have signed in to any replica. */
export async function createBrowserSessions(db: Kysely<unknown>): Promise<void> {
  await sql`create table browser_sessions (
    key ${TEXT} primary key, token_name ${TEXT} not null, host ${TEXT} not null, form_token ${TEXT} not null,
    began timestamptz not null, used timestamptz not null)`.execute(db)
  await sql`create index browser_sessions_of_token on browser_sessions (token_name, used)`.execute(db)
}

/**
 * Digest of the session's token. Sessions of earlier releases have none, so their browsers sign in
 * again.
 */
export async function addTokenDigests(db: Kysely<unknown>): Promise<void> {
  await sql`alter table browser_sessions add column token_digest ${TEXT} not null default ''`.execute(db)
}

/** State of the account of a session at an identity provider. */
export async function addSessionAccounts(db: Kysely<unknown>): Promise<void> {
  await sql`alter table browser_sessions add column account ${TEXT}`.execute(db)
}
