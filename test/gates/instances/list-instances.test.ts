import { expect, test } from 'vitest'

import { listInstances } from '../../../src/gates/instances/list-instances.js'
import type { InstanceListQuery } from '../../../src/gates/instances/list-instances.js'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import { NOW_MS, makeGate, makeTrigger, triggered } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()

test('a list pages through the instances that match, newest first', async () => {
  const { writer, reader } = await open()
  await triggered(writer)
  for (const executionId of ['b', 'c', 'd']) await writer.run(triggerGate, makeTrigger({ executionId }))
  const ids = async (filter: Partial<InstanceListQuery>) => {
    const page = await reader.run(listInstances, { order: 'newest', limit: 2, nowMs: NOW_MS, ...filter })
    return [page.instances.map(({ id }) => id), page.total, page.nextCursor]
  }
  expect(await ids({})).toEqual([[4, 3], 4, '3'])
  expect(await ids({ cursor: '3' })).toEqual([[2, 1], 4, undefined])
  expect(await ids({ executionId: 'c' })).toEqual([[3], 1, undefined])
  expect(await ids({ application: 'other' })).toEqual([[], 0, undefined])
  expect(await ids({ state: 'approved' })).toEqual([[], 0, undefined])
  expect(await ids({ gateId: 7, state: 'activated', limit: 10 })).toEqual([[4, 3, 2, 1], 4, undefined])
  expect(await ids({ fromMs: NOW_MS, toMs: NOW_MS + 1, limit: 10 })).toEqual([[4, 3, 2, 1], 4, undefined])
  expect(await ids({ fromMs: NOW_MS + 1 })).toEqual([[], 0, undefined])
  expect(await ids({ toMs: NOW_MS })).toEqual([[], 0, undefined])
})

test('a list by deadlines pages through those that wait, the first deadline first, without those that have passed it', async () => {
  const { writer, reader } = await open()
  await triggered(writer, makeGate({ timeToLiveMinutes: 60 }))
  for (const [index, executionId] of ['b', 'c', 'd', 'e'].entries()) {
    const nowMs = NOW_MS - [10, 20, 20, 59][index]! * 60_000
    await writer.run(triggerGate, makeTrigger({ executionId, actor: { user: 'ci', origin: 'test', nowMs } }))
  }
  const pages: number[][] = []
  let cursor: string | undefined
  do {
    const query = { state: 'activated', order: 'deadline', limit: 2, cursor } as const
    const page = await reader.run(listInstances, { ...query, nowMs: NOW_MS + 60_000 })
    expect(page.total).toBe(4)
    pages.push(page.instances.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(pages).toEqual([
    [3, 4],
    [2, 1],
  ])
  const wrong = { limit: 2, nowMs: NOW_MS, order: 'deadline' } as const
  await expect(reader.run(listInstances, wrong)).rejects.toMatchObject({ kind: 'invalid' })
  const cursors = { ...wrong, state: 'activated', cursor: '3' } as const
  await expect(reader.run(listInstances, cursors)).rejects.toMatchObject({ kind: 'invalid' })
})

test.each([
  ['RELE', [2, 1]],
  ['hop', [2, 1]],
  ['b_c', [2]],
  ['b%', []],
  ['AN', [2, 1]],
  ['2', [2]],
  ['nothing', []],
])('a search finds %j in the names of what they are about', async (search, found) => {
  const { writer, reader } = await open()
  await triggered(writer, makeGate(), { executionId: 'bxc' })
  await writer.run(triggerGate, makeTrigger({ executionId: 'b_c' }))
  const query = { search, order: 'newest', limit: 9, nowMs: NOW_MS } as const
  const { instances, total } = await reader.run(listInstances, query)
  expect([instances.map(({ id }) => id), total]).toEqual([found, found.length])
})
