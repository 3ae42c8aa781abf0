import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { PooledQueries } from '../../../src/store/postgres/engine/pooled-queries.js'
import { Session } from '../../../src/store/postgres/engine/session.js'
import { appendAll, entries } from '../../support/filled-trail.js'
import { useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const TIMEOUTS = { statementMs: 5000, lockMs: 5000 }
const open = useReplicaStores()
const copy = (text: string): string => `copy (${text}) to stdout (format binary)`

async function openQueries() {
  const settings = await databaseOf(randomUUID())
  const session = new Session(settings, TIMEOUTS)
  const pool = new PooledQueries(settings, TIMEOUTS, 1)
  onTestFinished(async () => {
    await session.close()
    await pool.close()
  })
  return { session, pool }
}

describe('rows that are copied out', () => {
  it('are those of the query, in its order, on connections of either kind, which are of use afterwards', async () => {
    const { session, pool } = await openQueries()
    for (const queries of [session, pool]) {
      for (const count of [3, 0, 20_000]) {
        const rows: [number, string][] = []
        const text = `select n::int8, repeat('x', n % 7)::bytea from generate_series(1, ${count}) as n`
        await queries.copyOut(copy(text), ([n, bytes]) => {
          rows.push([Number(n?.readBigInt64BE()), String(bytes)])
        })
        expect(rows).toEqual(
          Array.from({ length: count }, (_, index) => [index + 1, 'x'.repeat((index + 1) % 7)]),
        )
      }
      await expect(queries.copyOut(copy('select 1 / 0'), () => undefined)).rejects.toMatchObject({
        code: '22012',
      })
      const refused = queries.copyOut(copy('select 1'), () => {
        throw new Error('not this one')
      })
      await expect(refused).rejects.toThrow('not this one')
      expect((await queries.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    }
  })

  it('end with an error when the connection does', async () => {
    const { session } = await openQueries()
    const text = copy('select pg_terminate_backend(pg_backend_pid())::text')
    await expect(session.copyOut(text, () => undefined)).rejects.toMatchObject({ code: '57P01' })
    expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('prove a trail that is longer than one step of it', async () => {
    const store = await open(randomUUID())
    await store.writer.run(appendAll, entries(6000))
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true, checked: 6000 })
    const { links, broken } = await store.lookups.audit.check(
      { seq: 0, hash: '0'.repeat(64) },
      5500,
      [1, 5500],
    )
    expect(broken).toBeUndefined()
    expect(links.map(({ seq }) => seq)).toEqual([1, 5500])
  })
})
