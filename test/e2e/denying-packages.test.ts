import { afterAll, beforeAll, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/a.rego':
    'package static.a\n\nimport rego.v1\n\ndeny contains "both" if input.new.bad\n\ndeny contains "a alone" if input.new.bad\n',
  'policies/b.rego':
    'package static["b c"]\n\nimport rego.v1\n\ndeny contains "both" if input.new.bad\n\ndeny contains input.new.password if input.new.bad\n',
  'policies/c.rego':
    'package static.c\n\nimport rego.v1\n\ndeny contains sprintf("stage \'%s\' waits", [stage.name]) if some stage in input.new.stages\n',
})
const BAD = { input: { new: { bad: true, password: 'hunter2-hunter2' } } }
const FLAT = {
  ...{ startTime: 1, application: 'shop', name: 'p', stage: 's', executionId: 'e', user: 'u' },
  ...{ payloadConstraint: [], new: { bad: true } },
}
let tidegate: TidegateProcess

beforeAll(async () => {
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

test('a denial lists on request its packages with all their reasons', async () => {
  const asked = await postJson(tidegate.url, '/v1/staticPolicy/eval?explain=packages', BAD)
  expect(objectOf(asked)).toMatchObject({
    deny: ['a alone', 'both', 'hunter2-hunter2'],
    packages: [
      { package: 'static.a', deny: ['a alone', 'both'] },
      { package: 'static["b c"]', deny: ['both', 'hunter2-hunter2'] },
    ],
  })
  const rule = await postJson(tidegate.url, '/v1/data/static/a/deny?explain=packages', FLAT)
  expect(objectOf(rule)).toMatchObject({ packages: [{ package: 'static.a', deny: ['a alone', 'both'] }] })
  const allowed = await postJson(tidegate.url, '/v1/staticPolicy/eval?explain=packages', { input: {} })
  expect(objectOf(allowed)).toMatchObject({ status: 'ALLOW', packages: [] })
})

test('packages are not listed without a request', async () => {
  const denied = await postJson(tidegate.url, '/v1/staticPolicy/eval', BAD)
  expect(objectOf(denied)).not.toHaveProperty('packages')
})

test('the decision log lists the packages of every denial, without secrets', async () => {
  await postJson(tidegate.url, '/v1/staticPolicy/eval', BAD)
  const path = '/decisions?outcome=deny&path=staticPolicy/eval&limit=1'
  const listed = await ask(tidegate.url, { method: 'GET', path })
  expect(objectOf(listed)).toMatchObject({
    decisions: [
      {
        packages: [
          { package: 'static.a', deny: ['a alone', 'both'] },
          { package: 'static["b c"]', deny: ['both', expect.not.stringContaining('hunter2')] },
        ],
      },
    ],
  })
})

test('decisions are found by a package that denied, and so by the page of its policy', async () => {
  const denied = objectOf(await postJson(tidegate.url, '/v1/staticPolicy/eval', BAD))
  for (const name of ['static.a', 'static["b c"]']) {
    const path = `/decisions?package=${encodeURIComponent(name)}&limit=1`
    const listed = objectOf(await ask(tidegate.url, { method: 'GET', path }))
    expect(listed).toMatchObject({ decisions: [{ decisionId: denied['decisionId'], outcome: 'deny' }] })
  }
  const none = await ask(tidegate.url, { method: 'GET', path: '/decisions?package=static' })
  expect(objectOf(none)).toEqual({ decisions: [] })
  const page = await ask(tidegate.url, { method: 'GET', path: '/ui/policies/static/a' })
  expect(page.text).toContain('staticPolicy/eval')
  expect(page.text).toContain('denials by the package static.a')
})

test('the reasons of a denial are in the order of the stages of the pipeline', async () => {
  const stages = ['Wait', 'Bake', 'Deploy'].map((name) => ({ name }))
  const denied = await postJson(tidegate.url, '/v1/staticPolicy/eval', { input: { new: { stages } } })
  const deny = ["stage 'Wait' waits", "stage 'Bake' waits", "stage 'Deploy' waits"]
  expect(objectOf(denied)).toMatchObject({ deny, message: deny.join('; ') })
})
