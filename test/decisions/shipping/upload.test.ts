import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'

import { ContinualShipping } from '../../../src/decisions/shipping/ship-continually.js'
import { loadConfig } from '../../../src/config/load-config.js'
import type { KeepOptions } from '../../../src/decisions/keep-decisions.js'
import { openUpload } from '../../../src/main/open-upload.js'
import type { ShippingMetrics } from '../../../src/store/ports/decision-shipping.js'
import { openShippedLog } from '../../../src/store/sqlite/decisions/shipped-log.js'

import { aBatch, anEntry, openStore, unshaped } from '../../support/decisions.js'
import { startEventReceiver } from '../../support/event-receiver.js'
import type { EventReceiver } from '../../support/event-receiver.js'

let receiver: EventReceiver
beforeEach(async () => {
  receiver = await startEventReceiver()
})
afterEach(() => receiver.close())

/** A local log, and a function that starts its shipping to the receiver. */
async function openLog(options: Partial<KeepOptions> = {}) {
  const { path, writer } = await openStore(options)
  const start = (settings: object = {}) => {
    const sink = { name: 'central', type: 'opa', url: receiver.url, ...settings }
    const env = { TIDEGATE_DECISIONS_SINKS: JSON.stringify([sink]) }
    const [loaded] = loadConfig({ env }).decisions.sinks
    if (loaded?.type !== 'opa') throw new Error('no sink')
    let last: ShippingMetrics | undefined
    const shipping = new ContinualShipping({
      openLog: () => openShippedLog(path, 'central'),
      receiver: openUpload(loaded, { id: 'node-1' }, unshaped),
      roundEnded: (metrics) => (last = metrics),
    })
    onTestFinished(() => shipping.close())
    return { shipping, last: () => last }
  }
  const decide = (...ids: readonly string[]): void => {
    writer.insert(aBatch(ids.map((decisionId) => anEntry({ decisionId }))))
  }
  return { path, writer, decide, start }
}

const sentIds = (): unknown[] => receiver.events.map(({ decision_id: id }) => id)
/** Ids that compression does not make much smaller. */
const manyIds = (): string[] =>
  Array.from({ length: 300 }, (_, index) => createHash('sha256').update(`${index}`).digest('hex'))
const INTERVALS = { minMs: 1000, maxMs: 60_000, random: () => 0.5 }

test('decisions are uploaded as compressed JSON to /logs under the address of the service', async () => {
  const { decide, start } = await openLog()
  decide('a', 'b')
  const { shipping, last } = start({ url: `${receiver.url}/api/` })
  await shipping.catchUp()
  expect(sentIds()).toEqual(['a', 'b'])
  expect(receiver.uploads).toMatchObject([
    { path: '/api/logs', headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' } },
  ])
  expect(last()).toEqual({ shipped: 2, waiting: 0, missing: 0, problem: undefined })
})

test('another process continues where the last one ended', async () => {
  const { decide, start } = await openLog()
  decide('a', 'b')
  const first = start()
  await first.shipping.catchUp()
  await first.shipping.close()
  decide('c')
  await start().shipping.catchUp()
  expect(sentIds()).toEqual(['a', 'b', 'c'])
})

test('two sinks have positions of their own', async () => {
  const { path, decide, start } = await openLog()
  decide('a', 'b')
  await start().shipping.catchUp()
  const other = openShippedLog(path, 'other')
  onTestFinished(() => other.close())
  expect(other.next({ rows: 10, bytes: 1000 })?.decisions.map(({ decisionId }) => decisionId)).toEqual([
    'a',
    'b',
  ])
  expect(other.state()).toEqual({ waiting: 2, missing: 0 })
})

test('a new sink does not count decisions as missing that were deleted before it', async () => {
  const { path, writer, decide } = await openLog()
  decide('a', 'b', 'c')
  writer.deleteOldest(2)
  const log = openShippedLog(path, 'central')
  onTestFinished(() => log.close())
  expect(log.state()).toEqual({ waiting: 1, missing: 0 })
})

test('a failing service gets each decision once after it recovers', async () => {
  const { decide, start } = await openLog()
  const { shipping, last } = start()
  decide('a')
  receiver.respond(500)
  await shipping.catchUp()
  await shipping.catchUp()
  expect(last()).toMatchObject({ waiting: 1, missing: 0 })
  expect(last()?.problem).toContain('responded with 500')
  decide('b')
  receiver.respond(200)
  await shipping.catchUp()
  expect(sentIds()).toEqual(['a', 'b'])
  expect(last()).toEqual({ shipped: 2, waiting: 0, missing: 0, problem: undefined })
})

test.each([400, 401, 404, 422, 302])('no decision is given up because of status %i', async (status) => {
  const { decide, start } = await openLog()
  const { shipping, last } = start()
  decide('a')
  receiver.respond(status)
  await shipping.catchUp()
  expect(last()).toMatchObject({ waiting: 1, missing: 0 })
})

test('a service that is down is tried again later', async () => {
  const { decide, start } = await openLog()
  await receiver.close()
  const { shipping, last } = start()
  decide('a')
  await shipping.catchUp()
  expect(last()).toMatchObject({ waiting: 1, missing: 0 })
  expect(last()?.problem).toContain('could not be reached')
})

test('a service that does not respond is given up after the time limit', async () => {
  const { decide, start } = await openLog()
  const { shipping, last } = start({ timeoutSeconds: 1 })
  decide('a')
  receiver.respond(undefined)
  await shipping.catchUp()
  expect(last()).toMatchObject({ waiting: 1, missing: 0 })
  expect(last()?.problem).toContain('did not answer in full within 1000 ms')
})

test('waits grow after failures, are random, and are as long as the service requests', async () => {
  const { decide, start } = await openLog()
  const { shipping } = start()
  decide('a')
  receiver.respond(503)
  expect(shipping.pauseMs(INTERVALS)).toBe(1000)
  for (let failures = 0; failures < 4; failures += 1) await shipping.catchUp()
  expect(shipping.pauseMs(INTERVALS)).toBe(8000)
  expect(shipping.pauseMs({ ...INTERVALS, random: () => 0.25 })).toBe(4000)
  expect(shipping.pauseMs({ ...INTERVALS, random: () => 0 })).toBe(1000)
  receiver.respond(503, { 'retry-after': '120' })
  await shipping.catchUp()
  expect(shipping.pauseMs(INTERVALS)).toBe(120_000)
  receiver.respond(200)
  await shipping.catchUp()
  expect(shipping.pauseMs(INTERVALS)).toBe(1000)
})

test('uploads are divided until the service accepts their size', async () => {
  const { decide, start } = await openLog()
  const ids = manyIds()
  decide(...ids)
  receiver.limit(2500)
  const { shipping, last } = start()
  await shipping.catchUp()
  expect(sentIds()).toEqual(ids)
  expect(last()).toMatchObject({ waiting: 0, missing: 0 })
})

test('parts of a divided upload are not sent again when a later part fails', async () => {
  const { decide, start } = await openLog()
  const ids = manyIds()
  decide(...ids)
  const { shipping } = start({ maxUploadBytes: 4096 })
  receiver.failAfter(1)
  await shipping.catchUp()
  const first = receiver.events.length
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(ids.length)
  receiver.respond(200)
  await shipping.catchUp()
  expect(sentIds()).toEqual(ids)
})

test('a single decision that is too large is sent without detail', async () => {
  const { writer, start } = await openLog({ maxInputBytes: 1 << 20 })
  const noise = Array.from({ length: 2000 }, (_, index) => Math.sin(index))
  const input = Buffer.from(JSON.stringify({ noise }))
  writer.insert(aBatch([anEntry({ decisionId: 'large', input }), anEntry({ decisionId: 'small' })]))
  const { shipping, last } = start({ maxUploadBytes: 4096 })
  await shipping.catchUp()
  expect(receiver.events).toMatchObject([
    { decision_id: 'large', erased: ['/input'], custom: { outcome: 'allow' } },
    { decision_id: 'small' },
  ])
  expect(last()).toMatchObject({ waiting: 0, missing: 0 })
})

test('a decision that the service never accepts is counted and does not delay others', async () => {
  const { decide, start } = await openLog()
  receiver.limit(0)
  decide('a')
  const { shipping, last } = start()
  await shipping.catchUp()
  expect(last()).toEqual({ shipped: 0, waiting: 0, missing: 1, problem: undefined })
})

test('decisions that a service accepted are not sent again, even if it lost them', async () => {
  const { decide, start } = await openLog()
  decide('a')
  receiver.respond(204)
  await start().shipping.catchUp()
  receiver.respond(200)
  await start().shipping.catchUp()
  expect(receiver.uploads).toHaveLength(1)
  expect(receiver.events).toEqual([])
})

test('nothing leaves unmasked when a mask fails', async () => {
  const { writer, start } = await openLog({ masks: ['/card'] })
  const input = Buffer.from('{"card":"4111"} trailing')
  writer.insert(aBatch([anEntry({ input, result: Buffer.from('"4111"'), error: 'card 4111' })]))
  await start().shipping.catchUp()
  expect(receiver.events).toMatchObject([
    { decision_id: 'd-1', erased: expect.arrayContaining(['/input']) as unknown },
  ])
  expect(JSON.stringify(receiver.events)).not.toContain('4111')
})
