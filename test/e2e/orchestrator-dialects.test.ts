import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { strictWalk, tolerantWalk } from '../support/orchestrator-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const STATIC = '/v1/staticPolicy/eval'

const POLICIES = {
  'policies/static/new.rego': `package static.pipelines

import rego.v1

deny contains sprintf("%s waits too long", [stage.name]) if {
  some stage in input["new"].stages
  stage.type == "wait"
  to_number(stage.waitTime) > 3600
}

deny contains {"alertMsg": sprintf("application <%s> & 'co' is not known", [input["new"].application])} if {
  not startswith(input["new"].application, "shop")
}
`,
  'policies/static/rbac.rego': `package static.rbac

import rego.v1

deny contains sprintf("%s may not save", [input.pipeline.user.name]) if not "devs" in input.pipeline.user.groups

deny contains "an application needs an owner" if input.app.job[_].application.email == null

deny contains "an application needs a description" if input.app.description == ""
`,
  'policies/static/old.rego': `package static.pipelines.old

deny[msg] {
  input.new.stages[_].account == "forbidden"
  msg := "application <intruder> & 'co' is not known"
}
`,
  'policies/runtime.rego': `package opsmx.blackoutwindow

import rego.v1

deny contains sprintf("closed for %s since %v", [input.trigger.user, input.startTime]) if {
  some constraint in input.payloadConstraint
  constraint.region == "eu"
}

echoed := input
`,
  'policies/judgment.rego': `package judgment

import rego.v1

deny contains "not by the author" if input.pipeline.authentication.user == input.pipeline.author
`,
}

const flat = {
  stages: [
    { refId: '1', requisiteStageRefIds: [], type: 'manualJudgment', context: { lastModifiedBy: 'bo' } },
  ],
  startTime: 1_718_000_000_123,
  application: 'shop',
  name: 'prod-rollout',
  stage: 'Policy',
  executionId: '01J0ABCDEF',
  gateId: 41,
  trigger: { user: 'ana' },
  payloadConstraint: [{ region: 'us' }],
}
const denied = { ...flat, payloadConstraint: [{ region: 'eu' }] }
const pipeline = {
  application: 'shop',
  name: 'prod-rollout',
  schema: '1',
  triggers: [],
  index: 0,
  stages: [{ refId: '1', requisiteStageRefIds: [], type: 'wait', name: 'Wait', waitTime: '30' }],
}
const slow = {
  ...pipeline,
  stages: [{ ...pipeline.stages[0], waitTime: '7200' }],
}

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write(POLICIES)
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

/** An answer that every plugin reads without breaking, with these reasons. */
function expectVerdict(answer: Answered, reasons: readonly string[]): void {
  expect(answer.status).toBe(reasons.length > 0 ? 401 : 200)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  for (const walk of [strictWalk, tolerantWalk]) {
    expect(walk(answer.text, 'deny')).toEqual(reasons)
    expect(walk(answer.text, 'Deny')).toEqual(reasons)
  }
  expect(tolerantWalk(answer.text, 'allow')).toEqual([])
}

describe('a save evaluates the static policies', () => {
  const saves: readonly (readonly [name: string, input: unknown, reasons: readonly string[]])[] = [
    ['a pipeline under new', { new: pipeline }, []],
    ['a pipeline that waits too long', { new: slow }, ['Wait waits too long']],
    ['a pipeline with its stored form', { new: slow, current: pipeline }, ['Wait waits too long']],
    [
      'an object reason and the same text from another package',
      {
        new: { ...pipeline, application: 'intruder', stages: [{ type: 'deploy', account: 'forbidden' }] },
      },
      ["application <intruder> & 'co' is not known"],
    ],
    ['a pipeline with its user', { pipeline: { ...pipeline, user: { name: 'ana', groups: ['devs'] } } }, []],
    [
      'a pipeline whose user is in no group',
      { pipeline: { ...pipeline, user: { name: 'ana', groups: [] } } },
      ['ana may not save'],
    ],
    ['an application', { app: { name: 'shop', description: 'sells', details: {} } }, []],
    [
      'an application without description',
      { app: { name: 'shop', description: '' } },
      ['an application needs a description'],
    ],
    [
      'an application task with nulls',
      {
        app: {
          application: 'shop',
          job: [{ type: 'createApp', application: { name: 'shop', email: null } }],
        },
      },
      ['an application needs an owner'],
    ],
    ['an input that no policy knows', { other: 1 }, []],
  ]

  test.each(saves)('%s', async (_name, input, reasons) => {
    expectVerdict(await postJson(tidegate.url, STATIC, { input }), reasons)
    expectVerdict(await postJson(tidegate.url, STATIC, { input: JSON.stringify(input) }), reasons)
  })

  test.each([`/${STATIC}`, `${STATIC}/`, `//v1//staticPolicy/eval//`, `${STATIC}?x=1`])(
    'a carelessly joined URL: %s',
    async (path) => {
      expectVerdict(await postJson(tidegate.url, path, { input: { new: slow } }), ['Wait waits too long'])
    },
  )

  test('the escapes that Gson writes are read', async () => {
    const body = JSON.stringify({ input: { new: { ...pipeline, application: "<in&tr='der>" } } }).replace(
      /[<>&=']/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    const answer = await ask(tidegate.url, { path: STATIC, body, headers: jsonType('; charset=utf-8') })
    expectVerdict(answer, ["application <<in&tr='der>> & 'co' is not known"])
  })

  test('text that is not UTF-8 is read as ISO-8859-1', async () => {
    const body = Buffer.from(
      JSON.stringify({ input: { new: { ...slow, stages: [{ ...slow.stages[0], name: 'Größe' }] } } }),
      'latin1',
    )
    expectVerdict(await ask(tidegate.url, { path: STATIC, body, headers: jsonType() }), [
      'Größe waits too long',
    ])
  })

  test('a body may be gzip', async () => {
    const body = gzipSync(JSON.stringify({ input: { new: slow } }))
    const headers = { ...jsonType(), 'content-encoding': 'gzip' }
    expectVerdict(await ask(tidegate.url, { path: STATIC, body, headers }), ['Wait waits too long'])
  })

  test.each(['just words', '12', '"a text in a text"', '[]', '{"a":1} 2', 12, false, [], ['a']])(
    'input that is not a document is refused, since no policy would deny it: %j',
    async (input) => {
      const answer = await postJson(tidegate.url, STATIC, { input })
      expect(answer.status).toBe(400)
      expect(objectOf(answer)['message']).toMatch(
        /^input must be a JSON object, or a string that contains one[,:] /,
      )
    },
  )
})

describe('a policy stage sends a flat body', () => {
  const reason = 'closed for ana since 1718000000123'

  test.each([
    '/v1/data/opsmx/blackoutwindow',
    '/v1/data/opsmx/blackoutwindow/',
    '//v1/data//opsmx/blackoutwindow',
    '/v1/data/opsmx/blackoutwindow/deny',
    '/v1/data/opsmx',
    '/v1/data/**?requestUri=/v1/data/opsmx/blackoutwindow',
    '/v1/data/%2A%2A?requestUri=%2Fv1%2Fdata%2Fopsmx%2Fblackoutwindow',
    '/v1/data/**?requestUri=//v1/data/opsmx/blackoutwindow/',
  ])('%s', async (path) => {
    const headers = { 'x-spinnaker-user': 'ana' }
    expectVerdict(await postJson(tidegate.url, path, flat, headers), [])
    expectVerdict(await postJson(tidegate.url, path, denied, headers), [reason])
  })

  test.each([
    ['with an empty user header', flat, { 'x-spinnaker-user': '' }],
    ['without a type', flat, { 'content-type': '' }],
    ['with numbers as texts', { ...flat, startTime: '1718000000123', gateId: '41' }, {}],
    ['with a user of its own', { ...flat, trigger: undefined, user: 'ana', imageIds: ['a', 'b'] }, {}],
    ['with nulls', { ...flat, gateId: null, stage: null, imageIds: null }, {}],
    ['with unknown members', { ...flat, more: { allow: true, deny: 'x' } }, {}],
  ])('%s', async (_name, body, headers) => {
    expectVerdict(await postJson(tidegate.url, '/v1/data/opsmx/blackoutwindow', body, headers), [])
  })

  test.each(['input', 'Input', 'iNPUT', '\\u0069nput'])(
    'a member that the author of the stage calls %s does not make it the other dialect',
    async (name) => {
      for (const value of ['{}', '0', 'null', JSON.stringify(denied)]) {
        for (const place of ['first', 'last']) {
          const [member, rest] = [`"${name}":${value}`, JSON.stringify(denied).slice(1, -1)]
          const body = place === 'first' ? `{${member},${rest}}` : `{${rest},${member}}`
          for (const path of ['/v1/data/opsmx/blackoutwindow', '/v1/data/opsmx/blackoutwindow/deny']) {
            const answer = await ask(tidegate.url, { path, body, headers: jsonType() })
            expectVerdict(answer, [reason])
          }
        }
      }
    },
  )

  test('an OPA body with a single member of a flat one is treated as an OPA body', async () => {
    const asked = { input: denied, executionId: '1' }
    const answer = await postJson(tidegate.url, '/v1/data/opsmx/blackoutwindow/deny', asked)
    expect([answer.status, objectOf(answer)['result']]).toEqual([200, [reason]])
  })

  test('ISO-8859-1 is read, in the input and back in the reason', async () => {
    const body = Buffer.from(JSON.stringify({ ...denied, trigger: { user: 'José' } }), 'latin1')
    const answer = await ask(tidegate.url, {
      path: '/v1/data/opsmx/blackoutwindow',
      body,
      headers: jsonType(),
    })
    expectVerdict(answer, ['closed for José since 1718000000123'])
  })

  test('all missing fields are named together', async () => {
    const answer = await postJson(tidegate.url, '/v1/data/opsmx/blackoutwindow', { executionId: '1' })
    expect(answer.status).toBe(400)
    expect(objectOf(answer)).toMatchObject({
      code: 'missing_fields',
      message: 'the body lacks required fields: payloadConstraint, startTime, application, name, stage, user',
    })
    expect(answer.text.split('\n')).toHaveLength(1)
    expect(strictWalk(answer.text, 'deny')).toEqual([])
  })

  test.each([
    '/v1/data/**',
    '/v1/data/**?requestUri=',
    '/v1/data/**?requestUri=/etc/passwd',
    '/v1/data/**?requestUri=/v1/data/../secret',
    '/v1/data/**?requestUri=/v1/data/opsmx/%2e%2e/x',
    '/v1/data/**?requestUri=/v1/data/',
    '/v1/data/**?requestUri=/v1/policies/x',
  ])('a literal path that names no policy is refused: %s', async (path) => {
    const answer = await postJson(tidegate.url, path, denied)
    expect(answer.status).toBe(400)
    expect(objectOf(answer)['code']).toBe('invalid_parameter')
  })

  test('a policy that is not there is an error, never an allow', async () => {
    const answer = await postJson(tidegate.url, '/v1/data/no/such/policy', flat)
    expect(answer.status).toBe(500)
    expect(objectOf(answer)['code']).toBe('undefined_policy')
  })
})

describe('the plugin that speaks plain OPA', () => {
  const ask = (pipelineInput: object): Promise<Answered> =>
    postJson(tidegate.url, '/v1/data/judgment', { input: { pipeline: pipelineInput } })

  test('finds deny under result, empty or not, in a 200', async () => {
    const allowed = await ask({ author: 'bo', authentication: { user: 'ana' }, stages: [{ refIds: ['1'] }] })
    expect(allowed.status).toBe(200)
    expect(objectOf(allowed)['result']).toEqual({ deny: [] })
    const refused = await ask({ author: 'ana', authentication: { user: 'ana' } })
    expect(refused.status).toBe(200)
    expect(strictWalk(refused.text, 'deny')).toEqual(['not by the author'])
  })

  test('gets a decision id that the decision log knows', async () => {
    const { decision_id: id } = objectOf(await ask({}))
    const kept = await getPath(`/decisions/${String(id)}`)
    expect(objectOf(kept)).toMatchObject({
      decisionId: id,
      kind: 'data',
      path: 'judgment',
      outcome: 'defined',
    })
  })
})

describe('the sample policies and pipelines of the project', () => {
  test('a pipeline of 800 stages is answered', async () => {
    const sample = readFileSync(
      new URL('../cases/pipelines/generated-200-stages.json', import.meta.url),
      'utf8',
    )
    const body = `{"input":{"new":${sample}}}`
    const answer = await ask(tidegate.url, { path: STATIC, body, headers: jsonType() })
    expect([200, 401]).toContain(answer.status)
    strictWalk(answer.text, 'deny')
  })
})

function getPath(path: string): Promise<Answered> {
  return ask(tidegate.url, { path })
}

function jsonType(parameters = ''): Record<string, string> {
  return { 'content-type': `application/json${parameters}` }
}
