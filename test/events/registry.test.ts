import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareList } from '../../src/events/registry/compare-list.js'
import type { CompareList } from '../../src/events/registry/compare-list.js'
import { EventIntake } from '../../src/events/event-intake.js'
import { reconcileRegistry } from '../../src/events/registry/reconcile-registry.js'
import { readOtherApplication, readOtherApplications } from '../../src/events/registry/other-applications.js'
import { applyEvents, readHistory, recordInTrail } from '../../src/events/registry/registry-operations.js'
import { maintain } from '../../src/store/ports/maintenance.js'
import type { RegistryEntry, RegistryKind } from '../../src/store/ports/registry-store.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { Respond } from '../support/loopback-server.js'
import { connectTo } from '../support/orchestrator-connection.js'
import { base64Json, changeEvent, changeStage } from '../support/orchestrator-events.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const open = useServiceStore()
let store: TestStore
let closers: (() => Promise<void>)[]
let eventNumber = 0

beforeEach(async () => {
  store = await open()
  closers = []
})

afterEach(async () => {
  for (const close of closers) await close()
})

interface Stage {
  readonly refId: string
  readonly type: string
  readonly waitTime?: number
  readonly all?: readonly number[] | string
}

function pipeline(name: string, stages: readonly Stage[] = [], more: object = {}) {
  return { name, application: 'shop', id: `id-${name}`, stages, ...more }
}

/** The event of one change at a time, in seconds after 2024-06-10T06:13:20Z. */
function changed(type: string, context: Record<string, unknown>, second: number): Buffer {
  eventNumber += 1
  const endTime = 1_718_000_000_000 + second * 1000
  const event = changeEvent([changeStage(type, context, { endTime })], { endTime })
  return Buffer.from(JSON.stringify({ ...event, eventId: `change-${eventNumber}` }))
}

function saved(definition: { readonly name: string; readonly id?: string }, second: number): Buffer {
  const names = { 'pipeline.name': definition.name, 'pipeline.id': definition.id, application: 'shop' }
  return changed('savePipeline', { pipeline: base64Json(definition), ...names }, second)
}

const deleted = (name: string, second: number): Buffer =>
  changed(
    'deletePipeline',
    { application: 'shop', 'pipeline.name': name, 'pipeline.id': `id-${name}` },
    second,
  )

async function take(...bodies: readonly Buffer[]): Promise<void> {
  const intake = new EventIntake({ writer: store.writer, now: Date.now, maxWaitingBytes: 1e7 })
  for (const body of bodies) await intake.take(body, 'echo', undefined)
  await store.writer.run(applyEvents, { limit: 100, nowMs: Date.now() })
}

async function names(kind: RegistryKind = 'pipeline'): Promise<string[]> {
  const query = { kind, withDeleted: false, limit: 100 }
  return (await store.lookups.registry.page(query)).map(({ name }) => name)
}

async function find(name: string): Promise<RegistryEntry> {
  const found = await store.lookups.registry.findPipeline(`id-${name}`)
  if (found === undefined) throw new Error(`no pipeline ${name}`)
  return found
}

async function definition(name: string): Promise<unknown> {
  const [newest] = await store.lookups.registry.versions((await find(name)).id, 1)
  return newest?.definition === undefined ? undefined : (JSON.parse(newest.definition) as unknown)
}

async function history(name: string): Promise<Record<string, unknown>[]> {
  const { id } = await find(name)
  const { versions } = await store.reader.run(readHistory, { id, limit: 10, before: undefined })
  return JSON.parse(versions) as Record<string, unknown>[]
}

describe('the registry', () => {
  it('follows applications and pipelines by events', async () => {
    await take(
      changed(
        'createApplication',
        { application: { name: 'Shop', email: 'a@b' }, 'application.name': 'Shop' },
        1,
      ),
      saved(pipeline('rollout'), 2),
      saved(pipeline('rollback'), 3),
      deleted('rollback', 4),
    )
    expect(await names('application')).toEqual(['Shop'])
    expect(await names()).toEqual(['rollout'])
    expect(await definition('rollout')).toMatchObject({ name: 'rollout', stages: [] })
  })

  it.each([
    ['in order', [0, 1, 2]],
    ['the other way round', [2, 1, 0]],
    ['the last before the others', [2, 0, 1]],
    ['with repeats', [0, 2, 1, 0, 2]],
  ])('ends right when events come %s', async (_, order) => {
    const wait = (waitTime: number): Stage => ({ refId: '1', type: 'wait', waitTime })
    const events = [1, 2, 3].map((second) => saved(pipeline('p', [wait(second)]), second))
    await take(...order.map((index) => events[index] ?? Buffer.alloc(0)))
    expect(await definition('p')).toMatchObject({ stages: [{ waitTime: 3 }] })
  })

  it('does not bring back what was deleted when news of an earlier save comes late', async () => {
    await take(deleted('p', 5), saved(pipeline('p'), 4))
    expect(await names()).toEqual([])
    await take(saved(pipeline('p'), 6))
    expect(await names()).toEqual(['p'])
  })

  it('is read in pages, each from behind the last entry of the one before', async () => {
    await take(...['p', 'q', 'r'].map((name, index) => saved(pipeline(name), index + 1)))
    const page = (afterId: number | undefined) =>
      store.lookups.registry.page({ kind: 'pipeline', withDeleted: false, limit: 2, afterId })
    const first = await page(undefined)
    const second = await page(first.at(-1)?.id)
    expect([first, second].map((entries) => entries.map(({ name }) => name))).toEqual([['p', 'q'], ['r']])
  })

  it('keeps the number of a pipeline through renames, deletion and return', async () => {
    await take(saved(pipeline('p'), 1))
    const { id } = await find('p')
    await take(saved({ ...pipeline('q'), id: 'id-p' }, 2), deleted('p', 3), saved(pipeline('p'), 4))
    expect(await find('p')).toMatchObject({ id, version: 4, name: 'p' })
  })

  it('tells how versions differ, stages matched by their refId', async () => {
    const [a, b] = [
      { refId: '1', type: 'wait', waitTime: 10 },
      { refId: '2', type: 'manualJudgment' },
    ]
    await take(saved(pipeline('p', [a, b]), 1), saved(pipeline('p', [b, { ...a, waitTime: 20 }]), 2))
    const [newest, first] = await history('p')
    expect(first).toMatchObject({ version: 1, source: 'event' })
    expect(first).not.toHaveProperty('difference')
    const { stages } = newest?.['difference'] as { stages: Record<string, unknown> }
    expect(JSON.stringify(stages)).toContain('"waitTime":[10,20]')
    expect(JSON.stringify(stages)).not.toContain('manualJudgment')
  })

  it('says of definitions that are too large to be compared that they are', async () => {
    const numbers = (from: number): Stage => ({
      refId: '1',
      type: 'wait',
      all: Array.from({ length: 2000 }, (_, n) => from + n),
    })
    const text = (char: string): Stage => ({ refId: '1', type: 'wait', all: char.repeat(1_100_000) })
    const stages = [[numbers(0)], [numbers(5000)], [text('a')], [text('b')]]
    await take(...stages.map((each, index) => saved(pipeline('p', each), index + 1)))
    const said = (await history('p')).map((version) => 'differenceLeftOut' in version)
    expect(said).toEqual([true, true, true, false])
  })

  it('continues after a restart with events that were kept but not acted on', async () => {
    const intake = new EventIntake({ writer: store.writer, now: Date.now, maxWaitingBytes: 1e7 })
    await intake.take(saved(pipeline('p'), 1), 'echo', undefined)
    await store.close()
    store = await open(store.dataDir)
    expect(await store.lookups.registry.hasWaitingEvents()).toBe(true)
    expect(await store.writer.run(applyEvents, { limit: 10, nowMs: 1 })).toMatchObject({
      events: 1,
      changed: 1,
    })
    expect(await store.lookups.registry.hasWaitingEvents()).toBe(false)
    expect(await names()).toEqual(['p'])
  })

  it('says which events cannot be read, and continues', async () => {
    const intake = new EventIntake({ writer: store.writer, now: Date.now, maxWaitingBytes: 1e7 })
    await intake.take(changed('savePipeline', { pipeline: 'no base64 of JSON' }, 1), 'echo', undefined)
    const applied = await store.writer.run(applyEvents, { limit: 10, nowMs: 1 })
    expect(applied).toMatchObject({
      events: 1,
      changed: 0,
      unread: [expect.stringMatching(/cannot be read/)],
    })
  })
})

describe('a reconciliation', () => {
  async function reconcile(respond: Respond): Promise<unknown> {
    const server = await startLoopbackServer(respond)
    const connection = connectTo(server.origin)
    closers.push(connection.close, server.close)
    const compare: CompareList = (list, take) => compareList(list, store.reader, take)
    return await reconcileRegistry({ connection, compare, writer: store.writer, now: Date.now })
  }

  const listing =
    (applications: unknown, pipelines: unknown): Respond =>
    ({ url }, response) =>
      respondJson(response, 200, url.startsWith('/v2/applications') ? applications : pipelines)

  it('brings in what no event told of, and takes out what is gone', async () => {
    await take(saved(pipeline('gone'), 1), saved(pipeline('stays'), 1))
    await new Promise((resolve) => setImmediate(resolve))
    const outcome = await reconcile(listing([{ name: 'shop' }], [pipeline('stays'), pipeline('new')]))
    expect(outcome).toEqual({
      applications: { listed: 1, changed: 1 },
      pipelines: { listed: 2, changed: 2 },
    })
    expect(await names()).toEqual(['new', 'stays'])
    const [record] = await store.lookups.audit.page({
      filter: { source: 'registry' },
      order: 'newest_first',
      limit: 1,
    })
    expect(record?.kind).toBe('registry.reconciled')
  })

  it('believes no empty list where there were many, and brings in what a short list has', async () => {
    const many = Array.from({ length: 30 }, (_, index) => pipeline(`p${index}`))
    await reconcile(listing([{ name: 'shop' }], many))
    const all = await names()
    await expect(reconcile(listing([{ name: 'shop' }], []))).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await names()).toEqual(all)
    await expect(reconcile(listing([{ name: 'shop' }], [pipeline('new')]))).rejects.toThrow(
      /lacks 30 of the 30/,
    )
    expect((await names()).sort()).toEqual(['new', ...all].sort())
  })

  it('changes nothing the second time', async () => {
    const same = listing([{ name: 'shop' }], [pipeline('p', [], { secret: 'hidden', apiToken: 'x' })])
    await reconcile(same)
    expect(await reconcile(same)).toEqual({
      applications: { listed: 1, changed: 0 },
      pipelines: { listed: 1, changed: 0 },
    })
    expect(await definition('p')).toMatchObject({ apiToken: '[redacted]' })
  })

  it.each<[string, Respond]>([
    ['is down', (_, response) => response.destroy()],
    ['fails', (_, response) => respondJson(response, 500, { error: 'no' })],
    ['answers something else', (_, response) => respondJson(response, 200, { pipelines: [] })],
    [
      'breaks off in the middle',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        response.write('[{"name":"p","application":"shop"}')
        setImmediate(() => response.destroy())
      },
    ],
    [
      'ends its list too early',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('[{"name":"new","application":"shop","id":"id-new"}')
      },
    ],
  ])('leaves the registry as it was when the storage service %s', async (_, respond) => {
    await take(saved(pipeline('p'), 1))
    await expect(reconcile(respond)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await names()).toEqual(['p'])
  })
})

it('knows applications by their pipelines and by what happened in them, but for deleted ones', async () => {
  await take(saved({ name: 'rollout', id: 'id-rollout' }, 1))
  const happened = (application: string, more: object): Promise<unknown> =>
    store.writer.run(recordInTrail, {
      ...{ timeMs: 1, source: 'event', kind: 'git', application, body: Buffer.from('{}') },
      ...more,
    })
  await happened('bank', {})
  await happened('Lab', { executionId: '01J' })
  await maintain(store.maintenance, 'search')
  const read = (nameContains?: string) => store.reader.run(readOtherApplications, { nameContains, limit: 10 })
  expect(await read()).toEqual([
    { name: 'bank', knownFrom: ['events'] },
    { name: 'Lab', knownFrom: ['executions'] },
    { name: 'shop', knownFrom: ['pipelines', 'executions'] },
  ])
  expect((await read('LA')).map(({ name }) => name)).toEqual(['Lab'])
  const one = (name: string) => store.reader.run(readOtherApplication, name)
  for (const listed of await read()) expect(await one(listed.name)).toEqual(listed)
  expect(await one('SHOP')).toMatchObject({ name: 'shop' })
  expect(await one('nowhere')).toBeUndefined()
  await take(changed('deleteApplication', { 'application.name': 'shop' }, 2))
  expect(await one('shop')).toBeUndefined()
  expect((await read()).map(({ name }) => name)).toEqual(['bank', 'Lab'])
})
