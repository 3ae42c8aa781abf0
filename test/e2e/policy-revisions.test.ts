import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

let workspace: Workspace
let tidegate: TidegateProcess

beforeEach(async () => {
  workspace = makeWorkspace()
  write(1)
  tidegate = await startTidegate({ workspace })
})
afterEach(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

function write(version: number): void {
  workspace.write({
    'policies/app.rego': `package app\n\nimport rego.v1\n\nx := ${version}\n\ny := data.limits.most\n`,
    'policies/limits/data.json': JSON.stringify({ most: version * 10 }),
  })
}

const post = (path: string, body?: unknown): Promise<Answered> =>
  ask(tidegate.url, {
    ...{ method: 'POST', path, headers: { 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const get = async (path: string): Promise<Record<string, unknown>> =>
  objectOf(await ask(tidegate.url, { path }))

async function serve(version: number): Promise<string> {
  write(version)
  await post('/policies/refresh')
  return String((await get('/policies/sources'))['revision'])
}

async function decide(): Promise<unknown> {
  return objectOf(await post('/v1/data/app', { input: {} }))['result']
}

async function kinds(): Promise<unknown> {
  const { records } = await get('/audit?source=policy')
  return (records as { kind: unknown }[]).map(({ kind }) => kind)
}

test('a pinned revision serves until it is unpinned, whatever is refreshed, and after a restart', async () => {
  const first = String((await get('/policies/sources'))['revision'])
  const second = await serve(2)
  expect(await decide()).toEqual({ x: 2, y: 20 })
  expect((await post('/policies/pin', { revision: first })).status).toBe(200)
  expect(await decide()).toEqual({ x: 1, y: 10 })
  await serve(3)
  expect(await decide()).toEqual({ x: 1, y: 10 })
  expect(await get('/policies/sources')).toMatchObject({ revision: first, pinned: first })
  expect(JSON.stringify(await get('/health?plugins'))).toContain(`pinned to revision ${first}`)
  expect((await ask(tidegate.url, { path: '/ui/policies' })).text).toContain('pinned to revision')
  await tidegate.end('SIGTERM')
  tidegate = await startTidegate({ workspace })
  expect(await decide()).toEqual({ x: 1, y: 10 })
  expect(await get('/policies/revisions')).toMatchObject({
    pinned: { revision: first },
    revisions: [
      { revision: second, isServing: false },
      { revision: first, isServing: true },
    ],
  })
  expect((await post('/policies/unpin')).status).toBe(200)
  expect(await decide()).toEqual({ x: 3, y: 30 })
  expect(await kinds()).toEqual(
    expect.arrayContaining(['policy.pinned', 'policy.unpinned', 'policy.activated']),
  )
})

test('a rollback goes back one revision at a time, until none is before', async () => {
  await serve(2)
  await serve(3)
  expect((await post('/policies/rollback')).status).toBe(200)
  expect(await decide()).toMatchObject({ x: 2 })
  expect((await post('/policies/rollback')).status).toBe(200)
  expect(await decide()).toMatchObject({ x: 1 })
  const last = await post('/policies/rollback')
  expect([last.status, last.text]).toEqual([409, expect.stringContaining('nothing to go back to')])
  expect(await decide()).toMatchObject({ x: 1 })
})

test('a rollback goes to the revision that served just before, also if it had served earlier', async () => {
  await serve(2)
  await serve(1)
  await serve(3)
  await post('/policies/rollback')
  expect(await decide()).toMatchObject({ x: 1 })
  await post('/policies/unpin')
  await serve(2)
  await serve(3)
  await post('/policies/rollback')
  expect(await decide()).toMatchObject({ x: 2 })
})

test('files of equal names in two folders stay apart in a pinned revision, also after restarts', async () => {
  workspace.write({
    'policies/a/policy.rego': 'package a\n\nx := 1\n',
    'policies/b/policy.rego': 'package b\n\nx := 1\n',
  })
  const both = await serve(2)
  const later = await serve(3)
  const last = await serve(4)
  await post('/policies/rollback')
  expect(await get('/policies/sources')).toMatchObject({ revision: later })
  await post('/policies/rollback')
  for (const restarts of [0, 1, 2]) {
    if (restarts > 0) {
      await tidegate.end('SIGTERM')
      tidegate = await startTidegate({ workspace })
    }
    expect(await get('/policies/sources')).toMatchObject({ revision: both })
    for (const name of ['a', 'b'])
      expect(objectOf(await post(`/v1/data/${name}/x`, {}))).toMatchObject({ result: 1 })
  }
  const { files } = await get(`/policies/revisions/diff?base=${both}&revision=${last}`)
  expect((files as { file: string }[]).map(({ file }) => file)).toEqual(['app.rego', 'limits/data.json'])
})

test('a revision that does not compile never served, so a rollback does not choose it', async () => {
  await serve(2)
  workspace.write({ 'policies/app.rego': 'package app\n\nx := nowhere\n' })
  await post('/policies/refresh')
  expect((await get('/policies/revisions'))['revisions']).toHaveLength(2)
  await post('/policies/rollback')
  expect(await decide()).toMatchObject({ x: 1 })
})

test('an unknown revision is not pinned, and unpinning needs a pin', async () => {
  const unknown = await post('/policies/pin', { revision: 'r9' })
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('revision r9 is not stored')])
  expect((await post('/policies/unpin')).status).toBe(409)
  expect(await kinds()).toEqual([])
  expect(await decide()).toMatchObject({ x: 1 })
})

test('two revisions are compared file by file', async () => {
  const from = String((await get('/policies/sources'))['revision'])
  workspace.write({ 'policies/more.rego': 'package more\n\nx := 1\n' })
  const to = await serve(2)
  const { files } = await get(`/policies/revisions/diff?base=${from}&revision=${to}`)
  expect(files).toMatchObject([
    { file: 'app.rego', change: 'changed', diff: expect.stringContaining('-x := 1\n+x := 2\n') as string },
    { file: 'limits/data.json', diff: expect.stringContaining('+{"most":20}') as string },
    { file: 'more.rego', change: 'added', diff: expect.stringContaining('+package more') as string },
  ])
  expect(
    (await ask(tidegate.url, { path: `/policies/revisions/diff?base=${from}&revision=r9` })).status,
  ).toBe(404)
})

test('an activation has the counts of the last comparison with the same revision', async () => {
  const first = String((await get('/policies/sources'))['revision'])
  await decide()
  write(2)
  const files = Object.fromEntries(
    ['app.rego', 'limits/data.json'].map((file) => [
      file,
      readFileSync(join(workspace.path, 'policies', file), 'utf8'),
    ]),
  )
  const started = objectOf(await post('/policies/impact', { policies: { directories: [files] } }))
  const run = `/policies/impact/${String(started['impactId'])}`
  await waitUntil(
    async () => ((await get(run))['state'] === 'done' ? true : undefined),
    () => 'the comparison does not end',
  )
  const second = await serve(2)
  const impact = { comparison: 'impact', against: first, compared: 1, flips: 1, errors: 0 }
  const { revisions } = await get('/policies/revisions')
  expect(revisions).toMatchObject([{ revision: second, activations: [{ source: 'files', impact }] }, {}])
  const { records } = await get('/audit?source=policy')
  const [newest] = records as { readonly seq: number }[]
  expect((await get(`/audit/${newest?.seq}`))['body']).toMatchObject({ revision: second, impact })
  expect(await get(`/policies/revisions/diff?base=${first}&revision=${second}`)).toMatchObject({
    activations: [{ source: 'files', impact }],
  })
})

test('a revision whose sources are gone is neither pinned nor replaced at a start', async () => {
  const first = String((await get('/policies/sources'))['revision'])
  await serve(2)
  await post('/policies/pin', { revision: first })
  await tidegate.end('SIGTERM')
  const folder = join(workspace.path, 'data', 'revisions')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.gz'))) rmSync(join(folder, file))
  await expect(startTidegate({ workspace })).rejects.toThrow(/whose stored sources are gone/)
  rmSync(join(folder, 'pinned.json'))
  tidegate = await startTidegate({ workspace })
  expect(await decide()).toMatchObject({ x: 2 })
})
