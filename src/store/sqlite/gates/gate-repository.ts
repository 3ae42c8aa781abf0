import type { Database } from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { MAX_ID } from '../../ports/gate.js'
import type { NewInstance } from '../../ports/gate-instance.js'
import type { GateRepository, InstanceEnd } from '../../ports/gate-store.js'
import { OPEN_INSTANCES, makeGateReader } from './gate-reader.js'
import { fromGate, fromInstance, INSTANCE_COLUMNS, toInstance } from '../../tables/gate-tables.js'
import type { GateReviewsTable, GatesTable, InstanceRow, NewInstanceRow } from '../../tables/gate-tables.js'

/** The gates on a connection that writes. */
export function makeGateRepository(database: Database): GateRepository {
  const upsertGate = database.prepare<[GatesTable]>(
    `insert into gates (id, name, origin, is_enabled, definition, created_ms, changed_ms)
     values (@id, @name, @origin, @is_enabled, @definition, @created_ms, @changed_ms)
     on conflict (id) do update set name = excluded.name, origin = excluded.origin, is_enabled = excluded.is_enabled,
       definition = excluded.definition, changed_ms = excluded.changed_ms`,
  )
  const selectHighest = database.prepare<[], number | null>('select max(id) from gates').pluck()
  const updateInstance = database.prepare<[InstanceRow]>(
    `update gate_instances set ${INSTANCE_COLUMNS.map((name) => `${name} = @${name}`).join(', ')} where id = @id`,
  )
  return {
    ...makeGateReader(database),
    ...prepareSearches(database),
    ...prepareDocuments(database),
    ...prepareRemoval(database),
    saveGate: (gate) => {
      upsertGate.run(fromGate(gate))
      return Promise.resolve()
    },
    highestGateId: () => Promise.resolve(selectHighest.get() ?? 0),
    addInstance: prepareAdd(database),
    updateInstance: (instance) => {
      updateInstance.run({ id: instance.id, ...fromInstance(instance) })
      return Promise.resolve()
    },
  }
}

function prepareAdd(database: Database): (instance: NewInstance) => Promise<number> {
  const insert = database.prepare<[NewInstanceRow]>(
    `insert into gate_instances (${INSTANCE_COLUMNS.join(', ')})
     values (${INSTANCE_COLUMNS.map((name) => `@${name}`).join(', ')})`,
  )
  return (instance) => {
    const id = Number(insert.run(fromInstance(instance)).lastInsertRowid)
    if (id > MAX_ID)
      return Promise.reject(new AppError('unavailable', 'there are no ids left for gate instances'))
    return Promise.resolve(id)
  }
}

function prepareSearches(
  database: Database,
): Pick<GateRepository, 'findTriggered' | 'findReserved' | 'dueInstances'> {
  const selectTriggered = database.prepare<[string, number, string], InstanceRow>(
    `select * from gate_instances where execution_id = ? and gate_id = ? and body_digest = ? order by id desc limit 1`,
  )
  const selectReserved = database.prepare<[string, number], InstanceRow>(
    `select * from gate_instances where execution_id = ? and gate_id = ? and state = 'not_activated' order by id limit 1`,
  )
  const selectDue = database.prepare<[number, number], InstanceRow>(
    `select * from ${OPEN_INSTANCES} and expires_ms <= ? order by expires_ms limit ?`,
  )
  const toOptional = (row: InstanceRow | undefined) => (row === undefined ? undefined : toInstance(row))
  return {
    findTriggered: ({ gateId, executionId, bodyDigest }) =>
      Promise.resolve(toOptional(selectTriggered.get(executionId, gateId, bodyDigest))),
    findReserved: (gateId, executionId) =>
      Promise.resolve(toOptional(selectReserved.get(executionId, gateId))),
    dueInstances: (nowMs, limit) => Promise.resolve(selectDue.all(nowMs, limit).map(toInstance)),
  }
}

function prepareRemoval(database: Database): Pick<GateRepository, 'endedBefore' | 'removeInstances'> {
  const selectEnded = database.prepare<
    [{ beforeMs: number; afterMs: number; afterId: number; limit: number }],
    InstanceEnd
  >(
    `select id, decided_ms as decidedMs from gate_instances
     where decided_ms < @beforeMs and (decided_ms, id) > (@afterMs, @afterId)
     order by decided_ms, id limit @limit`,
  )
  const deletions = [
    'delete from gate_reviews where instance_id = ?',
    'delete from gate_papers where instance_id = ?',
    'delete from gate_instances where id = ?',
  ].map((text) => database.prepare<[number]>(text))
  return {
    endedBefore: ({ beforeMs, after, limit }) => {
      const { decidedMs: afterMs, id: afterId } = after ?? { decidedMs: 0, id: 0 }
      return Promise.resolve(selectEnded.all({ beforeMs, afterMs, afterId, limit }))
    },
    removeInstances: (ids) => {
      for (const id of ids) for (const deletion of deletions) deletion.run(id)
      return Promise.resolve()
    },
  }
}

function prepareDocuments(database: Database): Pick<GateRepository, 'saveDocuments' | 'addReview'> {
  const upsertDocuments = database.prepare<[number, string | null, string | null]>(
    `insert into gate_papers (instance_id, request, evidence) values (?, ?, ?)
     on conflict (instance_id) do update set request = coalesce(excluded.request, request),
       evidence = coalesce(excluded.evidence, evidence)`,
  )
  const insertReview = database.prepare<[Omit<GateReviewsTable, 'id'>]>(
    `insert into gate_reviews (instance_id, person, action, comment, time_ms)
     values (@instance_id, @person, @action, @comment, @time_ms)`,
  )
  return {
    saveDocuments: (instanceId, { request, evidence }) => {
      upsertDocuments.run(instanceId, request ?? null, evidence ?? null)
      return Promise.resolve()
    },
    addReview: (instanceId, { person, action, comment, timeMs }) => {
      insertReview.run({ instance_id: instanceId, person, action, comment, time_ms: timeMs })
      return Promise.resolve()
    },
  }
}
