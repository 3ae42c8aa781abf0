import type { Kysely } from 'kysely'
import { AppError } from '../../../errors/app-error.js'
import { MAX_ID } from '../../ports/gate.js'
import type { NewInstance } from '../../ports/gate-instance.js'
import type { GateRepository, InstanceEnd } from '../../ports/gate-store.js'
import { fromGate, fromInstance, INSTANCE_COLUMNS, toInstance } from '../../tables/gate-tables.js'
import type { InstanceRow } from '../../tables/gate-tables.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import type { Queries } from '../engine/session.js'
import { all, first, places, run } from '../engine/statements.js'
import { makeGateReader, OPEN_INSTANCES } from './gate-reader.js'

const SET_COLUMNS = INSTANCE_COLUMNS.map((name, index) => `${name} = $${index + 2}`).join(', ')

/** The gates in a transaction. */
export function makeGateRepository(queries: Queries, db: Kysely<ServiceDatabase>): GateRepository {
  return {
    ...makeGateReader(queries, db),
    ...searches(queries),
    ...documents(queries),
    ...removal(queries),
    saveGate: async (gate) => {
      const { id, name, origin, is_enabled, definition, created_ms, changed_ms } = fromGate(gate)
      await run(
        queries,
        `insert into gates (id, name, origin, is_enabled, definition, created_ms, changed_ms)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (id) do update set name = excluded.name, origin = excluded.origin, is_enabled = excluded.is_enabled,
           definition = excluded.definition, changed_ms = excluded.changed_ms`,
        [id, name, origin, is_enabled, definition, created_ms, changed_ms],
      )
    },
    highestGateId: async () => {
      const row = await first<{ id: number | null }>(queries, 'select max(id) as id from gates')
      return row?.id ?? 0
    },
    addInstance: async (instance) => {
      const text = `insert into gate_instances (${INSTANCE_COLUMNS.join(', ')})
        values (${places(INSTANCE_COLUMNS.length)}) returning id`
      const id = (await first<{ id: number }>(queries, text, valuesOf(instance)))?.id
      if (id === undefined || id > MAX_ID) {
        throw new AppError('unavailable', 'there are no ids left for gate instances')
      }
      return id
    },
    updateInstance: async (instance) => {
      await run(queries, `update gate_instances set ${SET_COLUMNS} where id = $1`, [
        instance.id,
        ...valuesOf(instance),
      ])
    },
  }
}

function valuesOf(instance: NewInstance): unknown[] {
  const row = fromInstance(instance)
  return INSTANCE_COLUMNS.map((name) => row[name])
}

function searches(queries: Queries): Pick<GateRepository, 'findTriggered' | 'findReserved' | 'dueInstances'> {
  const one = async (text: string, values: readonly unknown[]) => {
    const row = await first<InstanceRow>(queries, text, values)
    return row && toInstance(row)
  }
  return {
    findTriggered: ({ gateId, executionId, bodyDigest }) =>
      one(
        `select * from gate_instances where execution_id = $1 and gate_id = $2 and body_digest = $3
         order by id desc limit 1`,
        [executionId, gateId, bodyDigest],
      ),
    findReserved: (gateId, executionId) =>
      one(
        `select * from gate_instances where execution_id = $1 and gate_id = $2 and state = 'not_activated'
         order by id limit 1`,
        [executionId, gateId],
      ),
    dueInstances: async (nowMs, limit) => {
      const text = `select * from ${OPEN_INSTANCES} and expires_ms <= $1 order by expires_ms limit $2`
      return (await all<InstanceRow>(queries, text, [nowMs, limit])).map(toInstance)
    },
  }
}

function removal(queries: Queries): Pick<GateRepository, 'endedBefore' | 'removeInstances'> {
  return {
    endedBefore: ({ beforeMs, after, limit }) => {
      const { decidedMs: afterMs, id: afterId } = after ?? { decidedMs: 0, id: 0 }
      return all<InstanceEnd & Record<string, unknown>>(
        queries,
        `select id, decided_ms as "decidedMs" from gate_instances
         where decided_ms < $1 and (decided_ms, id) > ($2, $3) order by decided_ms, id limit $4`,
        [beforeMs, afterMs, afterId, limit],
      )
    },
    removeInstances: async (ids) => {
      await run(queries, 'delete from gate_reviews where instance_id = any($1)', [ids])
      await run(queries, 'delete from gate_papers where instance_id = any($1)', [ids])
      await run(queries, 'delete from gate_instances where id = any($1)', [ids])
    },
  }
}

function documents(queries: Queries): Pick<GateRepository, 'saveDocuments' | 'addReview'> {
  return {
    saveDocuments: async (instanceId, { request, evidence }) => {
      await run(
        queries,
        `insert into gate_papers as kept (instance_id, request, evidence) values ($1, $2, $3)
         on conflict (instance_id) do update set request = coalesce(excluded.request, kept.request),
           evidence = coalesce(excluded.evidence, kept.evidence)`,
        [instanceId, request ?? null, evidence ?? null],
      )
    },
    addReview: async (instanceId, { person, action, comment, timeMs }) => {
      await run(
        queries,
        'insert into gate_reviews (instance_id, person, action, comment, time_ms) values ($1, $2, $3, $4, $5)',
        [instanceId, person, action, comment, timeMs],
      )
    },
  }
}
