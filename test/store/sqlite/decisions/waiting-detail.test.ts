import { randomBytes } from 'node:crypto'

import { expect, onTestFinished, test } from 'vitest'

import { deleteAboveSize } from '../../../../src/decisions/retention.js'
import type { StoredDecision } from '../../../../src/store/ports/decision-store.js'
import { openShippedLog } from '../../../../src/store/sqlite/decisions/shipped-log.js'
import { aBatch, anEntry, openStore } from '../../../support/decisions.js'

const MIB = 1024 * 1024
const ALL = { rows: 1000, bytes: 64 * MIB }

/** A log of decisions with inputs that do not compress, and the view of one sink. */
async function openLog(receivers: readonly string[]) {
  const { path, writer } = await openStore({ receivers, redact: false })
  const log = openShippedLog(path, 'central')
  onTestFinished(() => log.close())
  const decide = (from: number, to: number): void => {
    for (let index = from; index < to; index += 1) {
      const input = Buffer.from(JSON.stringify(randomBytes(5000).toString('hex').slice(0, 8000)))
      const entry = { decisionId: `d${index}`, timeMs: index, input, result: Buffer.from('true') }
      writer.insert(aBatch([anEntry(entry)]))
    }
  }
  const waiting = (): readonly StoredDecision[] => log.next(ALL)?.decisions ?? []
  const shipFirst = (count: number): void => {
    const next = log.next({ ...ALL, rows: count })
    if (next !== undefined) log.noteShipped(next.place, count)
  }
  return { writer, log, decide, waiting, shipFirst }
}

const retention = { maxAgeMs: Infinity, maxBytes: 2 * MIB }
const hasDetail = ({ input, result }: StoredDecision): boolean => input !== null && result !== null

test('a full log removes detail of the oldest waiting decisions, and no decision', async () => {
  const { writer, log, decide, waiting } = await openLog(['central'])
  decide(0, 600)
  deleteAboveSize(writer, retention)
  expect(writer.size().bytes).toBeLessThanOrEqual(retention.maxBytes)
  expect(log.state()).toEqual({ waiting: 600, missing: 0 })
  const detailed = waiting().map(hasDetail)
  const removed = detailed.indexOf(true)
  expect(removed).toBeGreaterThan(0)
  expect(detailed.slice(removed)).not.toContain(false)
  expect(writer.takeDetailRemoved()).toBe(removed)
  expect(writer.takeDetailRemoved()).toBe(0)
  expect(waiting()[0]).toMatchObject({ decisionId: 'd0', outcome: 'allow', inputTruncated: true })
})

test('decisions that the sink has are removed before detail of the others', async () => {
  const { writer, log, decide, waiting, shipFirst } = await openLog(['central'])
  decide(0, 600)
  shipFirst(500)
  deleteAboveSize(writer, retention)
  expect(log.state()).toEqual({ waiting: 100, missing: 0 })
  expect(waiting().every(hasDetail)).toBe(true)
  expect(writer.takeDetailRemoved()).toBe(0)
})

test('without detail the oldest decisions are removed and counted as missing', async () => {
  const { writer, log, decide } = await openLog(['central'])
  decide(0, 100)
  deleteAboveSize(writer, { ...retention, maxBytes: 32_768 })
  expect(writer.takeDetailRemoved()).toBe(100)
  expect(log.state()).toEqual({ waiting: 0, missing: 100 })
})

test('whole decisions are removed if detail does not give way', async () => {
  const { writer, decide, waiting } = await openLog([])
  decide(0, 600)
  deleteAboveSize(writer, retention)
  expect(waiting().length).toBeLessThan(600)
  expect(waiting().every(hasDetail)).toBe(true)
})

test('numbers that are given again do not cost later decisions their detail', async () => {
  const { writer, decide, waiting } = await openLog(['central'])
  decide(0, 600)
  deleteAboveSize(writer, retention)
  writer.deleteBefore(600, 1000)
  decide(600, 700)
  expect(waiting().every(hasDetail)).toBe(true)
  deleteAboveSize(writer, retention)
  expect(waiting()).toHaveLength(100)
  expect(waiting().every(hasDetail)).toBe(true)
})
