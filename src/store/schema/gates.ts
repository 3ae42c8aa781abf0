import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { ColumnTypes } from './column-types.js'

type Db = Kysely<unknown>

/** Gates, their instances, and the documents and reviews of an instance. */
export async function createGates(db: Db, { text, numbered, rowId }: ColumnTypes): Promise<void> {
  await sql`create table gates (
    id integer primary key, name ${text} not null, origin ${text} not null, is_enabled integer not null,
    definition ${text} not null, created_ms bigint not null, changed_ms bigint not null)`.execute(db)
  await sql`create table gate_instances (
    id ${numbered}, gate_id integer not null references gates (id), gate_name ${text} not null, application ${text},
    execution_id ${text} not null, state ${text} not null, comment ${text} not null, created_ms bigint not null,
    activated_ms bigint, expires_ms bigint not null, decided_ms bigint, decided_by ${text}, triggered_by ${text},
    trigger_token ${text}, body_digest ${text}, approval_callback_url ${text}, rejection_callback_url ${text},
    work ${text})`.execute(db)
  await createInstanceIndexes(db)
  // A table of its own keeps the rows of instances short: a status is read far more often than the
  // documents.
  await sql`create table gate_papers (
    instance_id integer primary key references gate_instances (id), request ${text}, evidence ${text})`.execute(
    db,
  )
  await sql`create table gate_reviews (
    id ${rowId}, instance_id integer not null references gate_instances (id), person ${text} not null,
    action ${text} not null, comment ${text} not null, time_ms bigint not null)`.execute(db)
  const reviews = db.schema.createIndex('gate_reviews_by_instance').on('gate_reviews')
  await reviews.columns(['instance_id', 'id']).execute()
}

function instanceIndex(db: Db, name: string) {
  return db.schema.createIndex(`gate_instances_${name}`).on('gate_instances')
}

async function createInstanceIndexes(db: Db): Promise<void> {
  await instanceIndex(db, 'by_execution').columns(['execution_id', 'gate_id', 'id']).execute()
  await instanceIndex(db, 'by_gate').columns(['gate_id', 'id']).execute()
  await instanceIndex(db, 'by_application').columns(['application', 'id']).execute()
  await instanceIndex(db, 'by_state').columns(['state', 'id']).execute()
  await instanceIndex(db, 'open')
    .column('expires_ms')
    .where(sql.ref('state'), 'in', [sql.lit('not_activated'), sql.lit('activated')])
    .execute()
  await instanceIndex(db, 'with_work').column('id').where(sql.ref('work'), 'is not', null).execute()
}

/**
 * The time at which the caller showed that it knows an instance, and an index of instances by their
 * end.
 */
export async function addGateEnds(db: Db): Promise<void> {
  await sql`alter table gate_instances add column acknowledged_ms bigint`.execute(db)
  await instanceIndex(db, 'ended')
    .columns(['decided_ms', 'id'])
    .where(sql.ref('decided_ms'), 'is not', null)
    .execute()
}

/** Groups and represented people of reviews, delegations, and the time of the next notice. */
export async function addGateRules(db: Db, { text, numbered }: ColumnTypes): Promise<void> {
  await sql`alter table gate_reviews add column person_groups ${text}`.execute(db)
  await sql`alter table gate_reviews add column on_behalf_of ${text}`.execute(db)
  await sql`alter table gate_instances add column notice_ms bigint`.execute(db)
  await instanceIndex(db, 'by_notice')
    .column('notice_ms')
    .where(sql.ref('notice_ms'), 'is not', null)
    .execute()
  await sql`create table gate_delegations (
    id ${numbered}, from_person ${text} not null, to_person ${text} not null, person_groups ${text} not null,
    reason ${text} not null, created_ms bigint not null, until_ms bigint not null)`.execute(db)
}

/** Why the policy of a gate left an instance to people. */
export async function addPolicyProblems(db: Db, { text }: ColumnTypes): Promise<void> {
  await sql`alter table gate_instances add column policy_problem ${text}`.execute(db)
}
