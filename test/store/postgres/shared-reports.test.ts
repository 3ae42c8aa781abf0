import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

import { query } from '../../support/postgres/postgres-server.js'
import { openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const open = useReplicaStores()

it('shows the last report of each instance to all services, for an hour', async () => {
  const { one, other, name } = await openTwo(open, randomUUID())
  const [mine, theirs] = [one.sharing?.reports, other.sharing?.reports]
  await mine?.put({ id: 'a', status: '1', reportedBy: undefined })
  await mine?.put({ id: 'a', status: '2', reportedBy: 'sidecar' })
  await theirs?.put({ id: 'b', status: '3', reportedBy: undefined })
  const reports = (await theirs?.list()) ?? []
  expect(reports.map(({ id, status, reportedBy }) => [id, status, reportedBy])).toEqual([
    ['a', '2', 'sidecar'],
    ['b', '3', undefined],
  ])
  expect(Math.abs((reports[0]?.reportedMs ?? 0) - one.now())).toBeLessThan(60_000)
  await query(
    await databaseOf(name),
    "update instance_reports set reported = reported - interval '2 hours' where id = 'a'",
  )
  expect((await mine?.list())?.map(({ id }) => id)).toEqual(['b'])
})
