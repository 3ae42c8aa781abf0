import { afterEach, beforeEach, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { formTokenIn } from '../support/page-service.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

let workspace: Workspace
let tidegate: TidegateProcess

beforeEach(async () => {
  workspace = makeWorkspace()
  write('x := 1')
  await start()
})
afterEach(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

async function start(): Promise<void> {
  const staged = { sharePercent: 50, minutes: 60, decisions: 1000 }
  tidegate = await startTidegate({ workspace, config: { policies: { staged } } })
}

function write(rule: string): void {
  workspace.write({ 'policies/app.rego': `package app\nimport rego.v1\n${rule}\n` })
}

async function decideAll(): Promise<Set<unknown>> {
  const results = new Set<unknown>()
  for (let number = 0; number < 12; number += 1) {
    const input = { application: `app-${number}` }
    results.add(objectOf(await postJson(tidegate.url, '/v1/data/app/x', { input }))['result'])
  }
  return results
}

const page = async (path: string): Promise<string> => (await ask(tidegate.url, { path })).text
const submit = async (fields: Readonly<Record<string, string>>): Promise<Answered> =>
  await ask(tidegate.url, {
    method: 'POST',
    path: '/ui/operations/stage',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({
      ...fields,
      formToken: formTokenIn({ text: await page('/ui/policies') }),
    }).toString(),
  })

test('the page of the policies shows a stage with its counts and bounds, and ends it after a confirmation', async () => {
  write('x := 2')
  const { staged } = objectOf(await postJson(tidegate.url, '/policies/refresh', {}))
  const { revision } = staged as { revision: string }
  await decideAll()
  await waitUntil(
    async () => ((await page('/ui/policies')).includes('12, reported only') ? true : undefined),
    () => tidegate.logText(),
  )
  for (const path of ['/ui/policies', '/ui/operations'])
    for (const shown of [revision, '50 % of requests', '0, taken back above 0', '12 of 1000 decisions'])
      expect(await page(path)).toContain(shown)
  const asked = await submit({ action: 'promote', revision })
  expect([asked.status, asked.text.includes('12 other answers in 12 compared decisions')]).toEqual([
    200,
    true,
  ])
  await submit({ action: 'keep', revision, confirm: 'yes' })
  expect((await submit({ action: 'promote', revision: 'another', confirm: 'yes' })).status).toBe(409)
  expect(await page('/ui/policies')).toContain(revision)
  expect((await submit({ action: 'promote', revision, confirm: 'yes' })).status).toBe(303)
  expect(await decideAll()).toEqual(new Set([2]))
  expect(await page('/ui/policies')).not.toContain('Staged revision')
})

test('a staged pin, and the staged end of a pin, begin their stages again after a restart', async () => {
  const post = async (path: string, body: object = {}): Promise<Record<string, unknown>> =>
    objectOf(await postJson(tidegate.url, path, body))
  const restart = async (): Promise<Record<string, unknown>> => {
    await tidegate.end('SIGTERM')
    await start()
    return objectOf(await ask(tidegate.url, { path: '/policies/revisions' }))
  }
  write('x := 2')
  const { revision: first } = await post('/policies/refresh')
  await post('/policies/promote')
  await post('/policies/pin', { revision: first })
  const pinning = await restart()
  expect(pinning).toMatchObject({ staged: { revision: first, sharePercent: 50 } })
  expect(pinning['pinned']).toBeUndefined()
  expect(await decideAll()).toEqual(new Set([1, 2]))
  await post('/policies/promote')
  const promoted = await restart()
  expect(promoted).toMatchObject({ pinned: { revision: first } })
  expect(promoted['staged']).toBeUndefined()
  await post('/policies/unpin')
  expect(await restart()).toMatchObject({ pinned: { revision: first }, staged: { sharePercent: 50 } })
  expect(await decideAll()).toEqual(new Set([1, 2]))
  await post('/policies/abandon')
  expect((await restart())['staged']).toBeUndefined()
  expect(await decideAll()).toEqual(new Set([1]))
})
