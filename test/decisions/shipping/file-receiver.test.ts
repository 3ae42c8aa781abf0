import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { FileReceiver } from '../../../src/decisions/shipping/file-receiver.js'
import type { StoredDecision } from '../../../src/store/ports/decision-store.js'

import { aBatch, anEntry, openStore, unshaped, temporaryFolder } from '../../support/decisions.js'

async function stored(...ids: readonly string[]): Promise<readonly StoredDecision[]> {
  const { writer, reader } = await openStore()
  writer.insert(aBatch(ids.map((decisionId) => anEntry({ decisionId }))))
  const { decisions } = await reader.page({}, { rows: 1000, bytes: 1 << 20 })
  return [...decisions].reverse()
}

function idsIn(path: string): unknown[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => (JSON.parse(line) as { decision_id: unknown }).decision_id)
}

function receiverAt(path: string, maxBytes = 1 << 20, files = 2): FileReceiver {
  return new FileReceiver({ path, shape: unshaped, maxBytes, files })
}

test('each decision is a line of JSON, and only the owner can read the file', async () => {
  const path = join(temporaryFolder(), 'decisions.jsonl')
  const receiver = receiverAt(path)
  await receiver.keep(await stored('a', 'b'))
  await receiver.keep(await stored('c'))
  expect(idsIn(path)).toEqual(['a', 'b', 'c'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a full file is rotated, and the oldest file is replaced', async () => {
  const path = join(temporaryFolder(), 'decisions.jsonl')
  const [one] = await stored('a')
  if (one === undefined) throw new Error('no decision')
  const receiver = receiverAt(path, 600)
  for (const decisionId of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await receiver.keep([{ ...one, decisionId }])
  expect([path, `${path}.1`, `${path}.2`].map(idsIn)).toEqual([['g'], ['e', 'f'], ['c', 'd']])
  expect(existsSync(`${path}.3`)).toBe(false)
})

test('lines that do not fit in one file are refused together', async () => {
  const receiver = receiverAt(join(temporaryFolder(), 'decisions.jsonl'), 300)
  await expect(receiver.keep(await stored('a', 'b'))).rejects.toMatchObject({ kind: 'too_large' })
  await receiver.keep(await stored('a'))
})

test('a line that a crash left incomplete does not damage the next one', async () => {
  const path = join(temporaryFolder(), 'decisions.jsonl')
  writeFileSync(path, '')
  appendFileSync(path, '{"labels":{"id"')
  await receiverAt(path).keep(await stored('a'))
  const [incomplete, line] = readFileSync(path, 'utf8').split('\n')
  expect(incomplete).toBe('{"labels":{"id"')
  expect(JSON.parse(line ?? '')).toMatchObject({ decision_id: 'a' })
})

test('a file that cannot be written is reported and tried again', async () => {
  const path = join(temporaryFolder(), 'decisions.jsonl')
  mkdirSync(path)
  await expect(receiverAt(path).keep(await stored('a'))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining(`append to ${path}`) as unknown,
  })
})
