import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { GateInstance } from '../ports/gate-instance.js'
import type { GateReader, InstanceFilter, InstanceQuery } from '../ports/gate-store.js'
import { toInstance } from '../tables/gate-tables.js'
import type { ServiceDatabase } from '../tables/service-database.js'

const SEARCHED = ['gate_name', 'application', 'execution_id', 'triggered_by'] as const

/** The lists of instances, which are the same in every engine. */
export function makeInstanceLists(
  db: Kysely<ServiceDatabase>,
): Pick<GateReader, 'listInstances' | 'countInstances'> {
  return {
    listInstances: (query) => listInstances(db, query),
    countInstances: async (filter) => {
      const { count } = await matching(db, filter)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    },
  }
}

async function listInstances(
  db: Kysely<ServiceDatabase>,
  { order, after, limit, ...filter }: InstanceQuery,
): Promise<readonly GateInstance[]> {
  let query = matching(db, filter).selectAll().limit(limit)
  if (order === 'newest') {
    query = query.orderBy('id', 'desc')
    if (after !== undefined) query = query.where('id', '<', after.id)
  } else {
    query = query.orderBy('expires_ms').orderBy('id')
    if (after !== undefined) {
      query = query
        .where('expires_ms', '>=', after.expiresMs)
        .where((is) => is.or([is('expires_ms', '>', after.expiresMs), is('id', '>', after.id)]))
    }
  }
  return (await query.execute()).map(toInstance)
}

function matching(
  db: Kysely<ServiceDatabase>,
  { gateId, application, executionId, state, fromMs, toMs, search, expiresAfterMs }: InstanceFilter,
) {
  let query = db.selectFrom('gate_instances')
  if (gateId !== undefined) query = query.where('gate_id', '=', gateId)
  if (application !== undefined) query = query.where('application', '=', application)
  if (executionId !== undefined) query = query.where('execution_id', '=', executionId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (fromMs !== undefined) query = query.where('created_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('created_ms', '<', toMs)
  if (expiresAfterMs !== undefined) query = query.where('expires_ms', '>', expiresAfterMs)
  if (search !== undefined) {
    // Both sides are lowered by the database, since engines differ in which letters they know.
    const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
    const id = /^\d{1,9}$/.test(search) ? Number(search) : 0
    query = query.where((is) =>
      is.or([
        is('id', '=', id),
        ...SEARCHED.map(
          (column) => sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`,
        ),
      ]),
    )
  }
  return query
}
