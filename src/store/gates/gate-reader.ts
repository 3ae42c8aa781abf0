import { sql } from 'kysely'
import type { Expression, Kysely, RawBuilder, SqlBool } from 'kysely'
import type { GateInstance } from '../ports/gate-instance.js'
import type { AwaitedReview, GateReader, InstanceFilter, InstanceQuery } from '../ports/gate-store.js'
import { likePattern } from '../queries/engine-sql.js'
import type { EngineSql } from '../queries/engine-sql.js'
import { prepareQuery } from '../queries/prepared-query.js'
import { toDelegation, toGate, toInstance, toReview } from '../tables/gate-tables.js'
import type { ServiceDatabase } from '../tables/service-database.js'

type Db = Kysely<ServiceDatabase>

/** Condition of the partial index of open instances. A query must repeat it word by word. */
export const IS_OPEN = sql`state in ('not_activated', 'activated')`
const SEARCHED_COLUMNS = ['gate_name', 'application', 'execution_id', 'triggered_by'] as const

/** Reads gates on any connection. */
export function makeGateReader(db: Db, { openInstances }: Pick<EngineSql, 'openInstances'>): GateReader {
  const gates = prepareQuery(db, () => db.selectFrom('gates').selectAll().orderBy('id'))
  const gate = prepareQuery(db, ({ id }: { id: number }) =>
    db.selectFrom('gates').selectAll().where('id', '=', id),
  )
  const instance = prepareQuery(db, ({ id }: { id: number }) =>
    db.selectFrom('gate_instances').selectAll().where('id', '=', id),
  )
  const documents = prepareQuery(db, ({ id }: { id: number }) =>
    db.selectFrom('gate_papers').selectAll().where('instance_id', '=', id),
  )
  const reviews = prepareQuery(db, ({ id }: { id: number }) =>
    db
      .selectFrom('gate_reviews')
      .select(['person', 'action', 'comment', 'time_ms', 'person_groups', 'on_behalf_of'])
      .where('instance_id', '=', id)
      .orderBy('id'),
  )
  const work = prepareQuery(db, ({ afterId, limit }: { afterId: number; limit: number }) =>
    db
      .selectFrom('gate_instances')
      .select('id')
      .where('work', 'is not', null)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(limit),
  )
  const expiry = sql<{ expires_ms: number }>`select expires_ms from ${openInstances} where ${IS_OPEN}
    order by expires_ms limit 1`
  const oldestEnd = prepareQuery(db, () =>
    db
      .selectFrom('gate_instances')
      .select('decided_ms')
      .where('decided_ms', 'is not', null)
      .orderBy('decided_ms')
      .limit(1),
  )
  return {
    listGates: async () => (await gates.all({})).map(toGate),
    findGate: async (id) => {
      const row = await gate.first({ id })
      return row && toGate(row)
    },
    findInstance: async (id) => {
      const row = await instance.first({ id })
      return row && toInstance(row)
    },
    findDocuments: async (id) => {
      const row = await documents.first({ id })
      return { request: row?.request ?? undefined, evidence: row?.evidence ?? undefined }
    },
    reviewsOf: async (id) => (await reviews.all({ id })).map(toReview),
    ...readsOfRules(db),
    listInstances: (query) => listInstances(db, query),
    countInstances: (filter) => countInstances(db, filter),
    instancesWithWork: async (afterId, limit) => (await work.all({ afterId, limit })).map(({ id }) => id),
    nextExpiryMs: async () => (await expiry.execute(db)).rows[0]?.expires_ms,
    oldestEndMs: async () => (await oldestEnd.first({}))?.decided_ms ?? undefined,
  }
}

function readsOfRules(db: Db): Pick<GateReader, 'delegations' | 'nextNoticeMs'> {
  const delegations = prepareQuery(db, ({ afterMs }: { afterMs: number }) =>
    db
      .selectFrom('gate_delegations')
      .selectAll()
      .where('until_ms', '>', afterMs)
      .orderBy('until_ms')
      .orderBy('id'),
  )
  const notice = prepareQuery(db, () =>
    db
      .selectFrom('gate_instances')
      .select('notice_ms')
      .where('notice_ms', 'is not', null)
      .orderBy('notice_ms')
      .limit(1),
  )
  return {
    delegations: async (afterMs) => (await delegations.all({ afterMs })).map(toDelegation),
    nextNoticeMs: async () => (await notice.first({}))?.notice_ms ?? undefined,
  }
}

/** Names are compared exactly here. The review itself compares them without case. */
function awaitedBy({ person, gateIds, ownTriggerGateIds }: AwaitedReview): Expression<SqlBool>[] {
  const ids = (numbers: readonly number[]): RawBuilder<unknown> =>
    numbers.length === 0 ? sql`(null)` : sql`(${sql.join(numbers)})`
  return [
    sql<SqlBool>`gate_id in ${ids(gateIds)}`,
    sql<SqlBool>`(gate_id in ${ids(ownTriggerGateIds)} or (coalesce(triggered_by, '') <> ${person} and coalesce(trigger_token, '') <> ${person}))`,
    sql<SqlBool>`not exists (select 1 from gate_reviews where gate_reviews.instance_id = gate_instances.id and gate_reviews.person = ${person})`,
  ]
}

async function countInstances(db: Db, filter: InstanceFilter): Promise<number> {
  const { count } = await matching(db, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function listInstances(
  db: Db,
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
  db: Db,
  { gateId, application, executionId, state, fromMs, toMs, search, expiresAfterMs, awaits }: InstanceFilter,
) {
  let query = db.selectFrom('gate_instances')
  if (awaits !== undefined) query = query.where((is) => is.and(awaitedBy(awaits)))
  if (gateId !== undefined) query = query.where('gate_id', '=', gateId)
  if (application !== undefined) query = query.where('application', '=', application)
  if (executionId !== undefined) query = query.where('execution_id', '=', executionId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (fromMs !== undefined) query = query.where('created_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('created_ms', '<', toMs)
  if (expiresAfterMs !== undefined) query = query.where('expires_ms', '>', expiresAfterMs)
  if (search !== undefined) {
    // The database lowers both sides: engines know different sets of letters.
    const pattern = likePattern(search)
    const id = /^\d{1,9}$/.test(search) ? Number(search) : 0
    query = query.where((is) =>
      is.or([
        is('id', '=', id),
        ...SEARCHED_COLUMNS.map(
          (column) => sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`,
        ),
      ]),
    )
  }
  return query
}
