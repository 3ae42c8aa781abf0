import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** When the caller showed that it knows an instance, and the instances by when they ended. */
export async function addGateEnds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('gate_instances').addColumn('acknowledged_ms', 'bigint').execute()
  await db.schema
    .createIndex('gate_instances_ended')
    .on('gate_instances')
    .columns(['decided_ms', 'id'])
    .where(sql.ref('decided_ms'), 'is not', null)
    .execute()
}
