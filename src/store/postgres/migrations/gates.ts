import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { NUMBERED, TEXT } from '../engine/migrate.js'

/** Gates, their instances, and what belongs to an instance. */
export async function createGates(db: Kysely<unknown>): Promise<void> {
  await sql`create table gates (
    id integer primary key, name ${TEXT} not null, origin ${TEXT} not null, is_enabled integer not null,
    definition ${TEXT} not null, created_ms bigint not null, changed_ms bigint not null)`.execute(db)
  await sql`create table gate_instances (
    id ${NUMBERED}, gate_id integer not null references gates (id), gate_name ${TEXT} not null, application ${TEXT},
    execution_id ${TEXT} not null, state ${TEXT} not null, comment ${TEXT} not null, created_ms bigint not null,
    activated_ms bigint, expires_ms bigint not null, decided_ms bigint, decided_by ${TEXT}, triggered_by ${TEXT},
    trigger_token ${TEXT}, body_digest ${TEXT}, approval_callback_url ${TEXT}, rejection_callback_url ${TEXT}, work ${TEXT},
    acknowledged_ms bigint)`.execute(db)
  await createInstanceIndexes(db)
  // Apart from the instances, whose rows stay short: a status is read far more often than what led to it.
  await sql`create table gate_papers (
    instance_id integer primary key references gate_instances (id), request ${TEXT}, evidence ${TEXT})`.execute(
    db,
  )
  await sql`create table gate_reviews (
    id ${NUMBERED}, instance_id integer not null references gate_instances (id), person ${TEXT} not null,
    action ${TEXT} not null, comment ${TEXT} not null, time_ms bigint not null)`.execute(db)
  await db.schema
    .createIndex('gate_reviews_by_instance')
    .on('gate_reviews')
    .columns(['instance_id', 'id'])
    .execute()
}

async function createInstanceIndexes(db: Kysely<unknown>): Promise<void> {
  const index = (name: string) => db.schema.createIndex(`gate_instances_${name}`).on('gate_instances')
  await index('by_execution').columns(['execution_id', 'gate_id', 'id']).execute()
  await index('by_gate').columns(['gate_id', 'id']).execute()
  await index('by_application').columns(['application', 'id']).execute()
  await index('by_state').columns(['state', 'id']).execute()
  await index('open')
    .column('expires_ms')
    .where(sql.ref('state'), 'in', [sql.lit('not_activated'), sql.lit('activated')])
    .execute()
  await index('with_work').column('id').where(sql.ref('work'), 'is not', null).execute()
  await index('ended').columns(['decided_ms', 'id']).where(sql.ref('decided_ms'), 'is not', null).execute()
}

/** Why the policy of a gate left an instance to people. */
export async function addPolicyProblems(db: Kysely<unknown>): Promise<void> {
  await sql`alter table gate_instances add column policy_problem ${TEXT}`.execute(db)
}
