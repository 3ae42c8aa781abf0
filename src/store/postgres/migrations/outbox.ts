import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { NUMBERED, TEXT } from '../engine/migrate.js'

/** Messages that must reach others. */
export async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await sql`create table outbox (
    id ${NUMBERED}, webhook_id ${TEXT} not null unique, topic ${TEXT} not null, url ${TEXT} not null, receiver ${TEXT} not null,
    headers ${TEXT}, body ${TEXT} not null, subject ${TEXT}, application ${TEXT}, execution_id ${TEXT}, state ${TEXT} not null,
    attempts integer not null, created_ms bigint not null, tried_since_ms bigint not null, next_attempt_ms bigint not null,
    leased_until_ms bigint, lease_owner ${TEXT}, last_status integer, last_error ${TEXT}, settled_ms bigint)`.execute(
    db,
  )
  const index = (name: string) => db.schema.createIndex(`outbox_${name}`).on('outbox')
  // By receiver first: what waits for one receiver is never read to find what waits for another.
  await index('pending')
    .columns(['receiver', 'next_attempt_ms'])
    .where(sql.ref('state'), '=', sql.lit('pending'))
    .execute()
  await index('leased').column('lease_owner').where(sql.ref('lease_owner'), 'is not', null).execute()
  await index('given_up').column('id').where(sql.ref('state'), '=', sql.lit('given_up')).execute()
  await index('by_subject').column('subject').where(sql.ref('subject'), 'is not', null).execute()
  await index('settled').column('settled_ms').where(sql.ref('settled_ms'), 'is not', null).execute()
}
