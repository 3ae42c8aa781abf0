import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { TEXT } from '../engine/migrate.js'

/** Who has signed in to the pages of any of the replicas. */
export async function createBrowserSessions(db: Kysely<unknown>): Promise<void> {
  await sql`create table browser_sessions (
    key ${TEXT} primary key, token_name ${TEXT} not null, host ${TEXT} not null, form_token ${TEXT} not null,
    began timestamptz not null, used timestamptz not null)`.execute(db)
  await sql`create index browser_sessions_of_token on browser_sessions (token_name, used)`.execute(db)
}

/** Which token a session began with. Those of earlier releases tell none, and their browsers sign in again. */
export async function addTokenDigests(db: Kysely<unknown>): Promise<void> {
  await sql`alter table browser_sessions add column token_digest ${TEXT} not null default ''`.execute(db)
}
