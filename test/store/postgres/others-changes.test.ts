import { describe, expect, it } from 'vitest'
import { DatabaseError } from 'pg'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { saveGateChanges } from '../../../src/gates/definitions/declare-gates.js'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import { isLostConnection, isStaleConnection } from '../../../src/store/postgres/engine/postgres-error.js'
import { makeGate, makeTrigger } from '../../support/gates.js'
import { query } from '../../support/postgres/postgres-server.js'
import { enqueue, leasing, openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const open = useReplicaStores()
const gate = makeGate({ approvals: 2, triggererMayApprove: true })

describe('the database of two replicas', () => {
  it('is read and written on as before when a newer release adds to what all have asked it already', async () => {
    const { one, other, name } = await openTwo(open)
    const settings = await databaseOf(name)
    await one.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate }])
    const use = async (executionId: string) => {
      for (const store of [one, other]) {
        // Several at a time, so that each of its connections is used.
        const found = await Promise.all([1, 2, 3].map(() => store.lookups.gates.findGate(gate.id)))
        expect(found.map((each) => each?.name)).toEqual([gate.name, gate.name, gate.name])
      }
      const { instance } = await one.writer.run(triggerGate, makeTrigger({ executionId }))
      await other.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 })
      const { messages } = await leasing(one)
      expect(messages).toHaveLength(1)
      expect((await other.lookups.gates.findInstance(instance.id))?.executionId).toBe(executionId)
      const checked = await verifyTrail({ reader: one.reader })
      expect(checked).toMatchObject({ isIntact: true })
    }
    await use('before')
    for (const table of ['gates', 'gate_instances', 'outbox', 'leases', 'audit', 'decisions'])
      await query(settings, `alter table ${table} add column of_tomorrow text default 'x'`)
    await use('after')
    expect(one.problem()).toBeUndefined()
  })
})

describe('a connection', () => {
  // postgresql.org/docs/15/errcodes-appendix.html; 25P04 is of 17.
  it.each(['57P01', '57P05', '25P03', '25P04', '08006'])(
    'that the server ended while a statement was on its way is replaced, and the statement tried again (%s)',
    (code) => {
      const ended = Object.assign(new DatabaseError('Verbindung wird abgebrochen', 1, 'error'), { code })
      expect([isLostConnection(ended), isStaleConnection(ended)]).toEqual([true, true])
    },
  )
})
