import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, expect, test } from 'vitest'

import { KeptRevisions } from '../../../src/rego/revisions/kept-revisions.js'
import type { RevisionSources } from '../../../src/rego/revisions/kept-revisions.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

const workspaces: Workspace[] = []
afterEach(() => workspaces.splice(0).forEach(({ remove }) => remove()))

function keeper({ maxBytes = 1e6, maxAgeMs = 1e9 } = {}) {
  const workspace = makeWorkspace()
  workspaces.push(workspace)
  const folder = join(workspace.path, 'revisions')
  let nowMs = 1000
  const revisions = new KeptRevisions(folder, { maxBytes, maxAgeMs, now: () => nowMs })
  const contents = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.gz'))
  return { revisions, folder, contents, passTo: (ms: number) => (nowMs = ms) }
}

const sources = (revision: string, texts: readonly string[], data = '{"a": 1}'): RevisionSources => ({
  revision,
  rego: texts.map((text, index) => ({ file: `${index}.rego`, text })),
  data: [{ file: 'd/data.json', at: ['d'], content: Buffer.from(data) }],
  withoutRego: [],
})

test('the files of a revision are read back as they were', async () => {
  const { revisions } = keeper()
  await revisions.keep(sources('r1', ['package a\nx = .5\n']))
  expect(await revisions.read('r1', 2000)).toEqual({
    ...{ revision: 'r1', withoutRego: [], dataBytesLeftOut: 0 },
    rego: [{ file: '0.rego', text: 'package a\nx =0.5\n', source: 'package a\nx = .5\n' }],
    data: [{ file: 'd/data.json', at: ['d'], content: Buffer.from('{"a": 1}') }],
  })
  expect(await revisions.read('r2', 2000)).toBeUndefined()
})

test('edits of data by clients are read back as edits', async () => {
  const { revisions } = keeper()
  const edit = { file: 'x', at: ['limits'], content: Buffer.from('7'), edit: 'put' } as const
  await revisions.keep({ ...sources('r1', ['package a']), data: [edit] })
  expect((await revisions.read('r1', 2000))?.data).toEqual([edit])
})

test('stored revisions are listed, the one that served last first', async () => {
  const { revisions, passTo } = keeper()
  expect(await revisions.served()).toEqual([])
  await revisions.keep(sources('r1', ['package a']))
  passTo(2000)
  await revisions.keep(sources('r2', ['package b']))
  passTo(3000)
  await revisions.keep(sources('r1', ['package c']))
  expect((await revisions.served()).map(({ revision }) => revision)).toEqual(['r1', 'r2', 'r1'])
})

test('equal files of revisions are stored once', async () => {
  const { revisions, contents } = keeper()
  await revisions.keep(sources('r1', ['package a', 'package b']))
  await revisions.keep(sources('r2', ['package a', 'package c']))
  expect(contents()).toHaveLength(4)
})

test('of bundles with the same revision, the one that served at the time is read', async () => {
  const { revisions, passTo } = keeper()
  await revisions.keep(sources('v1', ['package a']))
  passTo(5000)
  await revisions.keep(sources('v1', ['package b']))
  expect((await revisions.read('v1', 4999))?.rego[0]?.text).toBe('package a')
  expect((await revisions.read('v1', 5000))?.rego[0]?.text).toBe('package b')
})

test('revisions that served longest ago are removed where the space is used up, with their files', async () => {
  const { revisions, contents, passTo } = keeper({ maxBytes: 200 })
  for (const revision of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']) {
    passTo(Number(revision.slice(1)) * 1000)
    await revisions.keep(sources(revision, [`package ${revision}`]))
  }
  const read = async (revision: string) => (await revisions.read(revision, 9000))?.revision
  expect([await read('r1'), await read('r5'), await read('r6')]).toEqual([undefined, 'r5', 'r6'])
  expect(contents().length).toBeLessThan(7)
})

test('revisions older than the decisions are removed, except for the one that serves', async () => {
  const { revisions, passTo } = keeper({ maxAgeMs: 1000 })
  await revisions.keep(sources('r1', ['package a']))
  passTo(1500)
  await revisions.keep(sources('r2', ['package b']))
  passTo(9000)
  await revisions.keep(sources('r3', ['package c']))
  expect((await revisions.read('r1', 9000))?.revision).toBeUndefined()
  expect((await revisions.read('r2', 9000))?.revision).toBe('r2')
  expect((await revisions.read('r3', 9000))?.revision).toBe('r3')
})

test('large data is left out with its size', async () => {
  const { revisions } = keeper({ maxBytes: 1000 })
  await revisions.keep(sources('r1', ['package a'], `"${'x'.repeat(300)}"`))
  expect(await revisions.read('r1', 2000)).toMatchObject({ data: [], dataBytesLeftOut: 302 })
})

test('damaged files count as not stored', async () => {
  const { revisions, folder, contents } = keeper()
  await revisions.keep(sources('r1', ['package a']))
  for (const name of contents()) writeFileSync(join(folder, name), 'damaged')
  expect(await revisions.read('r1', 2000)).toBeUndefined()
})

test('nothing is stored with a limit of 0', async () => {
  const { revisions } = keeper({ maxBytes: 0 })
  await revisions.keep(sources('r1', ['package a']))
  expect(await revisions.read('r1', 2000)).toBeUndefined()
})
