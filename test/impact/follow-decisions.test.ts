import { expect, test } from 'vitest'
import { readNewDecisions } from '../../src/impact/follow-decisions.js'
import { aBatch, anEntry, openStore } from '../support/decisions.js'

async function logOf(count: number) {
  const store = await openStore()
  const add = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1)
      store.writer.insert(aBatch([anEntry({ decisionId: `d${n}`, timeMs: n })]))
  }
  add(0, count)
  return { reader: store.reader, add }
}

test('only decisions since the last read are read, oldest first', async () => {
  const { reader, add } = await logOf(3)
  const { lastSeq } = await readNewDecisions(reader, Infinity, 0)
  add(3, 5)
  const found = await readNewDecisions(reader, lastSeq, 100)
  expect(found.decisions.map(({ decisionId }) => decisionId)).toEqual(['d3', 'd4'])
  expect(found.dropped).toBe(0)
  expect(await readNewDecisions(reader, found.lastSeq, 100)).toMatchObject({ decisions: [], dropped: 0 })
})

test('if too many are new, the oldest are dropped and counted', async () => {
  const { reader, add } = await logOf(1)
  add(1, 11)
  const found = await readNewDecisions(reader, 1, 4)
  expect(found.decisions.map(({ decisionId }) => decisionId)).toEqual(['d7', 'd8', 'd9', 'd10'])
  expect(found.dropped).toBe(6)
})

test('an empty log has nothing new', async () => {
  const { reader } = await logOf(0)
  expect(await readNewDecisions(reader, 0, 10)).toEqual({ decisions: [], dropped: 0, lastSeq: 0 })
})
