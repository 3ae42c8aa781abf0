import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { AppError } from '../../errors/app-error.js'
import { MAX_ID } from '../ports/gate.js'
import type { GateRepository } from '../ports/gate-store.js'
import type { EngineSql } from '../queries/engine-sql.js'
import { prepareQuery, rowOf } from '../queries/prepared-query.js'
import { fromGate, fromInstance, GATE_COLUMNS, INSTANCE_COLUMNS, toInstance } from '../tables/gate-tables.js'
import type {
  GateReviewsTable,
  GatesTable,
  InstanceDocumentsTable,
  InstanceRow,
  NewInstanceRow,
} from '../tables/gate-tables.js'
import type { ServiceDatabase } from '../tables/service-database.js'
import { IS_OPEN, makeGateReader } from './gate-reader.js'

type Db = Kysely<ServiceDatabase>
type EngineParts = Pick<EngineSql, 'openInstances'>

/** Makes the repository of gates on a connection that writes. */
export function makeGateRepository(db: Db, engine: EngineParts): GateRepository {
  const gate = prepareQuery(db, (args: GatesTable) => {
    const { created_ms, ...changed } = rowOf(args, GATE_COLUMNS)
    return db
      .insertInto('gates')
      .values({ ...changed, created_ms })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
  })
  const highest = prepareQuery(db, () => db.selectFrom('gates').select(({ fn }) => fn.max('id').as('id')))
  const insertion = prepareQuery(db, (args: NewInstanceRow) =>
    db.insertInto('gate_instances').values(rowOf(args, INSTANCE_COLUMNS)).returning('id'),
  )
  const update = prepareQuery(db, (args: InstanceRow) =>
    db.updateTable('gate_instances').set(rowOf(args, INSTANCE_COLUMNS)).where('id', '=', args.id),
  )
  return {
    ...makeGateReader(db, engine),
    ...searches(db, engine),
    ...documents(db),
    ...removal(db),
    ...delegating(db),
    saveGate: async (saved) => {
      await gate.run(fromGate(saved))
    },
    highestGateId: async () => (await highest.first({}))?.id ?? 0,
    addInstance: async (instance) => {
      const id = (await insertion.first(fromInstance(instance)))?.id
      if (id !== undefined && id <= MAX_ID) return id
      throw new AppError('unavailable', 'there are no ids left for gate instances')
    },
    updateInstance: async (instance) => {
      await update.run({ id: instance.id, ...fromInstance(instance) })
    },
  }
}

type Searches = Pick<GateRepository, 'findTriggered' | 'findReserved' | 'dueInstances' | 'dueNotices'>

function searches(db: Db, { openInstances }: EngineParts): Searches {
  const ofGate = (args: { gateId: number; executionId: string }) =>
    db
      .selectFrom('gate_instances')
      .selectAll()
      .where('execution_id', '=', args.executionId)
      .where('gate_id', '=', args.gateId)
      .limit(sql.lit(1))
  const triggered = prepareQuery(db, (args: { gateId: number; executionId: string; bodyDigest: string }) =>
    ofGate(args).where('body_digest', '=', args.bodyDigest).orderBy('id', 'desc'),
  )
  const reserved = prepareQuery(db, (args: { gateId: number; executionId: string }) =>
    ofGate(args).where('state', '=', 'not_activated').orderBy('id'),
  )
  return {
    findTriggered: async (identity) => {
      const row = await triggered.first(identity)
      return row && toInstance(row)
    },
    findReserved: async (gateId, executionId) => {
      const row = await reserved.first({ gateId, executionId })
      return row && toInstance(row)
    },
    dueNotices: async (nowMs, limit) => {
      const due = db.selectFrom('gate_instances').selectAll().where('notice_ms', '<=', nowMs)
      return (await due.orderBy('notice_ms').limit(limit).execute()).map(toInstance)
    },
    dueInstances: async (nowMs, limit) => {
      const due = sql<InstanceRow>`select * from ${openInstances} where ${IS_OPEN} and expires_ms <= ${nowMs}
        order by expires_ms limit ${limit}`
      return (await due.execute(db)).rows.map(toInstance)
    },
  }
}

function documents(db: Db): Pick<GateRepository, 'saveDocuments' | 'addReview'> {
  const save = prepareQuery(db, (args: InstanceDocumentsTable) =>
    db
      .insertInto('gate_papers')
      .values(rowOf(args, ['instance_id', 'request', 'evidence']))
      .onConflict((conflict) =>
        conflict.column('instance_id').doUpdateSet((eb) => ({
          request: eb.fn.coalesce(eb.ref('excluded.request'), eb.ref('gate_papers.request')),
          evidence: eb.fn.coalesce(eb.ref('excluded.evidence'), eb.ref('gate_papers.evidence')),
        })),
      ),
  )
  const review = prepareQuery(db, (args: Omit<GateReviewsTable, 'id'>) =>
    db
      .insertInto('gate_reviews')
      .values(
        rowOf(args, [
          'instance_id',
          'person',
          'action',
          'comment',
          'time_ms',
          'person_groups',
          'on_behalf_of',
        ]),
      ),
  )
  return {
    saveDocuments: async (instanceId, { request, evidence }) => {
      await save.run({ instance_id: instanceId, request: request ?? null, evidence: evidence ?? null })
    },
    addReview: async (instanceId, { person, action, comment, timeMs, groups, onBehalfOf = null }) => {
      const about = {
        person_groups: groups === undefined ? null : JSON.stringify(groups),
        on_behalf_of: onBehalfOf,
      }
      await review.run({ instance_id: instanceId, person, action, comment, time_ms: timeMs, ...about })
    },
  }
}

function delegating(db: Db): Pick<GateRepository, 'addDelegation' | 'removeDelegation'> {
  return {
    addDelegation: async (delegation) => {
      const { from, to, groups, reason, createdMs, untilMs } = delegation
      await db.deleteFrom('gate_delegations').where('until_ms', '<=', createdMs).execute()
      const row = await db
        .insertInto('gate_delegations')
        .values({
          ...{ from_person: from, to_person: to, person_groups: JSON.stringify(groups), reason },
          ...{ created_ms: createdMs, until_ms: untilMs },
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...delegation, id: row.id }
    },
    removeDelegation: async (id) => {
      await db.deleteFrom('gate_delegations').where('id', '=', id).execute()
    },
  }
}

function removal(db: Db): Pick<GateRepository, 'endedBefore' | 'removeInstances'> {
  return {
    endedBefore: async ({ beforeMs, after, limit }) => {
      const { decidedMs, id } = after ?? { decidedMs: 0, id: 0 }
      const ended = await db
        .selectFrom('gate_instances')
        .select(['id', 'decided_ms'])
        .where('decided_ms', '<', beforeMs)
        .where((eb) => eb(eb.refTuple('decided_ms', 'id'), '>', eb.tuple(decidedMs, id)))
        .orderBy('decided_ms')
        .orderBy('id')
        .limit(limit)
        .execute()
      return ended.map((row) => ({ id: row.id, decidedMs: row.decided_ms ?? 0 }))
    },
    removeInstances: async (ids) => {
      if (ids.length === 0) return
      await db.deleteFrom('gate_reviews').where('instance_id', 'in', ids).execute()
      await db.deleteFrom('gate_papers').where('instance_id', 'in', ids).execute()
      await db.deleteFrom('gate_instances').where('id', 'in', ids).execute()
    },
  }
}
