import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { inspectDatabase } from '../../../src/store/postgres/inspection/inspect-database.js'
import { appendAll, entry } from '../../support/filled-trail.js'
import { hasPooler, startPooler } from '../../support/postgres/pooler.js'
import { query } from '../../support/postgres/postgres-server.js'
import { openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const open = useReplicaStores()
const pooled = async (mode: 'session' | 'transaction') => {
  const name = randomUUID()
  const settings = await databaseOf(name)
  const { port } = await startPooler(settings, mode)
  return { name, settings, through: { settings: { port } } }
}
if (!hasPooler) process.stderr.write('PgBouncer is not installed: the tests of poolers are skipped\n')

describe.skipIf(!hasPooler)('a pooler before the database', () => {
  it('that works in session mode is as good as the database itself', async () => {
    const { name, settings, through } = await pooled('session')
    const [one, other] = [await open(name, through), await open(name, through)]
    let heard = 0
    const listening = "select pid from pg_stat_activity where query = 'listen tidegate_released'"
    await expect.poll(() => query(settings, listening)).toHaveLength(2)
    other.sharing?.whenReleased(() => heard++)
    await Promise.all([1, 2, 3, 4].map((at) => (at % 2 ? one : other).writer.run(appendAll, [entry(at)])))
    expect(await verifyTrail({ reader: other.reader })).toMatchObject({ isIntact: true, checked: 4 })
    await one.close()
    await expect.poll(() => heard).toBe(1)
    // Settings of a connection do not reach the next client.
    const timeouts = "select current_setting('statement_timeout') as found"
    expect(await query({ ...settings, ...through.settings }, timeouts)).toEqual([{ found: '0' }])
  })

  it('that works in transaction mode is named at the start, with what to do', async () => {
    const { name, settings, through } = await pooled('transaction')
    const advice = /the database is behind a pooler in transaction mode: set it to session mode/
    await expect(open(name, through)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(advice) as string,
    })
    await expect(inspectDatabase({ ...settings, ...through.settings }, Date.now)).rejects.toThrow(advice)
    // It has changed nothing on the way.
    const { one } = await openTwo(open, name)
    await one.writer.run(appendAll, [entry(1)])
  })
})
