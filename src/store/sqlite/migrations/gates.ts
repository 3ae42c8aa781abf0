import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Gates, their instances, and what belongs to an instance. */
export async function createGates(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('gates')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('is_enabled', 'integer', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .execute()
  await createInstances(db)
  await createInstanceIndexes(db)
  // Apart from the instances, whose rows stay short: a status is read far more often than what led to it.
  await db.schema
    .createTable('gate_papers')
    .addColumn('instance_id', 'integer', (column) => column.primaryKey().references('gate_instances.id'))
    .addColumn('request', 'text')
    .addColumn('evidence', 'text')
    .execute()
  await db.schema
    .createTable('gate_reviews')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('instance_id', 'integer', (column) => column.notNull().references('gate_instances.id'))
    .addColumn('person', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('comment', 'text', (column) => column.notNull())
    .addColumn('time_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('gate_reviews_by_instance')
    .on('gate_reviews')
    .columns(['instance_id', 'id'])
    .execute()
}

async function createInstances(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('gate_instances')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('gate_id', 'integer', (column) => column.notNull().references('gates.id'))
    .addColumn('gate_name', 'text', (column) => column.notNull())
    .addColumn('application', 'text')
    .addColumn('execution_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('comment', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('activated_ms', 'bigint')
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .addColumn('decided_ms', 'bigint')
    .addColumn('decided_by', 'text')
    .addColumn('triggered_by', 'text')
    .addColumn('trigger_token', 'text')
    .addColumn('body_digest', 'text')
    .addColumn('approval_callback_url', 'text')
    .addColumn('rejection_callback_url', 'text')
    .addColumn('work', 'text')
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
}
