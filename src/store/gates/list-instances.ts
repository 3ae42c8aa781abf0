import type { Kysely } from 'kysely'
import type { GateInstance } from '../ports/gate-instance.js'
import type { InstanceFilter } from '../ports/gate-store.js'
import { toInstance } from '../tables/gate-tables.js'
import type { ServiceDatabase } from '../tables/service-database.js'

/** The instances of a filter, newest first. */
export async function listInstances(
  db: Kysely<ServiceDatabase>,
  { gateId, application, executionId, state, fromMs, toMs, beforeId, limit }: InstanceFilter,
): Promise<readonly GateInstance[]> {
  let query = db.selectFrom('gate_instances').selectAll().orderBy('id', 'desc').limit(limit)
  if (gateId !== undefined) query = query.where('gate_id', '=', gateId)
  if (application !== undefined) query = query.where('application', '=', application)
  if (executionId !== undefined) query = query.where('execution_id', '=', executionId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (fromMs !== undefined) query = query.where('created_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('created_ms', '<', toMs)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return (await query.execute()).map(toInstance)
}
