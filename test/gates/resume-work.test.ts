import { expect, test } from 'vitest'

import { resumeWork } from '../../src/gates/resume-work.js'
import { reviewInstance } from '../../src/gates/reviewing/review-instance.js'
import { NOW_MS, trail, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()
const actor = { user: 'ops', origin: 'test', nowMs: NOW_MS }

test('the work for an open instance is done once more, and the trail says for whom', async () => {
  const store = await open()
  const instance = await triggered(store.writer)
  await store.writer.run(resumeWork, { instanceId: 1, actor })
  expect(await store.lookups.gates.findInstance(1)).toEqual({ ...instance, work: 'evidence' })
  expect((await trail(store)).at(-1)).toMatchObject({ kind: 'gate.work_resumed', user: 'ops' })
})

test('there is none for an instance that has ended, or that nobody knows', async () => {
  const store = await open()
  await triggered(store.writer)
  const attempt = { person: 'bo', action: 'approve', comment: '', groups: [], timeMs: NOW_MS } as const
  await store.writer.run(reviewInstance, { instanceId: 1, attempt, origin: undefined })
  const resume = (instanceId: number) => store.writer.run(resumeWork, { instanceId, actor })
  await expect(resume(1)).rejects.toMatchObject({ kind: 'conflict' })
  await expect(resume(2)).rejects.toMatchObject({ kind: 'not_found' })
})
