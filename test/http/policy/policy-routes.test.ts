import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import type { ExplainDecision } from '../../../src/explain/explain-decision.js'
import { planFor, rememberedPlan } from '../../../src/http/policy/plan-cache.js'
import type { RuleExplanation } from '../../../src/rego/index.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { ask, objectOf, postJson } from '../../support/http-client.js'
import { startPolicyServer } from '../../support/policy-server.js'
import type { RecordedDecision } from '../../support/policy-server.js'
import type { RoutesServer } from '../../support/routes-server.js'

const POLICIES = {
  'app.rego': `package app

import rego.v1

allow if input.user == "ana"

long := [i | some i in numbers.range(1, 500)]

raises := time.parse_ns("no layout", "no time")
`,
  'ports.rego': 'package ports\n\nimport rego.v1\n\ndeny contains "bob may not" if input.user == "bob"\n',
  'static.rego':
    'package static.ports\n\nimport rego.v1\n\ndeny contains "port 22 is open" if input.port == 22\n',
  'several.rego':
    'package several\n\nimport rego.v1\n\ndeny contains "use one of: a, b"\n\ndeny contains "wait, then retry"\n',
}

/** Maximum number of cached paths. */
const REMEMBERED_PATHS = 4096

let snapshot: Snapshot
let server: RoutesServer
let decisions: readonly RecordedDecision[]

beforeAll(async () => {
  ;({ snapshot, server, decisions } = await startPolicyServer(POLICIES))
})
afterAll(() => server.stop(0))

const post = (path: string, input: object, headers: Record<string, string> = {}) =>
  ask(server.url, { path, body: JSON.stringify({ input }), headers })

describe('a decision in the dialect of OPA', () => {
  test.each([
    ['defined', { user: 'ana' }, true],
    ['undefined', { user: 'bo' }, undefined],
  ])('that is %s is answered, and recorded as such', async (outcome, input, result) => {
    const answer = objectOf(await post('/v1/data/app/allow', input))
    expect(answer['result']).toBe(result)
    expect(decisions.at(-1)).toMatchObject({
      decisionId: answer['decision_id'],
      kind: 'data',
      path: 'app/allow',
      outcome,
      input: JSON.stringify(input),
      result: result === undefined ? undefined : 'true',
    })
  })

  test('listens to the switches of the query', async () => {
    const { text } = await post('/v1/data/app/allow?pretty&metrics=true&provenance', { user: 'ana' })
    expect(text).toMatch(/^\{\n {2}"decision_id"/)
    expect(JSON.parse(text)).toMatchObject({
      provenance: { version: '1.2.3' },
      metrics: { timer_server_handler_ns: expect.any(Number) as number },
    })
    expect(Object.keys(objectOf(await post('/v1/data/app/allow', { user: 'ana' })))).toEqual([
      'decision_id',
      'result',
    ])
  })

  test.each([
    ['an unknown name', 'app/alow', 'nothing is called data.app.alow; did you mean data.app.allow?'],
    ['an input that decides so', 'app/allow', 'data.app.allow is undefined for this input'],
    ['a package that was left out', 'allow', 'did you mean data.app.allow?'],
  ])('explains to whoever asks why there is no value: %s', async (_, path, why) => {
    const plain = objectOf(await post(`/v1/data/${path}?explain=notes`, { user: 'bob' }))
    expect(plain).not.toHaveProperty('result')
    expect(plain['explanation']).toEqual([
      expect.objectContaining({ op: 'note', type: 'expr', message: expect.stringContaining(why) as string }),
    ])
    const laidOut = objectOf(await post(`/v1/data/${path}?explain=full&pretty`, { user: 'bob' }))
    expect(laidOut['explanation']).toEqual([expect.stringContaining(why)])
    expect(objectOf(await post(`/v1/data/${path}`, { user: 'bob' }))).not.toHaveProperty('explanation')
  })

  test('explains no value', async () => {
    const { text } = await post('/v1/data/app/allow?explain=notes', { user: 'ana' })
    expect(JSON.parse(text)).toMatchObject({ explanation: [], result: true })
  })

  test.each([
    ['without the switch is undefined', '', 200],
    ['with it is an error', '?strict-builtin-errors', 500],
  ])('whose built-in raises %s', async (_, query, status) => {
    expect((await post(`/v1/data/app/raises${query}`, {})).status).toBe(status)
    expect(decisions.at(-1)?.outcome).toBe(status === 200 ? 'undefined' : 'error')
  })

  test.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip; q=0.0, br', false],
    ['br', false],
    [undefined, false],
  ])('that is long is compressed for who accepts %s: %s', async (accepted, isCompressed) => {
    const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const answer = await post('/v1/data/app/long', {}, headers)
    expect(answer.headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined)
    expect(answer.headers.vary).toBe('Accept-Encoding')
    const { result } = JSON.parse(isCompressed ? gunzipSync(answer.body).toString() : answer.text) as {
      result: number[]
    }
    expect(result).toHaveLength(500)
  })

  test('that is short is never compressed', async () => {
    const answer = await post('/v1/data/app/allow', { user: 'ana' }, { 'accept-encoding': 'gzip' })
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

test.each([
  [22, 401, 'deny'],
  [443, 200, 'allow'],
])('static policies decide over port %d with %d, recorded as %s', async (port, status, outcome) => {
  const answer = await post('/v1/staticPolicy/eval', { port }, { 'content-type': 'application/json' })
  expect(answer.status).toBe(status)
  expect(decisions.at(-1)).toMatchObject({ kind: 'static', outcome })
})

const ALLOWED = '{"input":{"port":443}}'
const FLAT = JSON.stringify({
  ...{ application: 'shop', name: 'deploy', stage: {}, executionId: 'e-1' },
  ...{ payloadConstraint: [], startTime: 1, user: 'ana' },
})

test.each([
  ['text behind the document', '/v1/staticPolicy/eval', `${ALLOWED} trailing`],
  ['a second document', '/v1/staticPolicy/eval', `${ALLOWED}{"input":{"port":22}}`],
  ['a second input', '/v1/staticPolicy/eval', '{"input":{"port":22},"INPUT":{"port":443}}'],
  ['text behind a flat body', '/v1/data/ports', `${FLAT}]`],
  ['a second flat body', '/v1/data/ports', `${FLAT}\n${FLAT}`],
])('no verdict is given on %s, of which another parser may make something else', async (_, path, body) => {
  const headers = { 'content-type': 'application/json' }
  const before = decisions.length
  expect((await ask(server.url, { path, body, headers })).status).toBe(400)
  expect(decisions).toHaveLength(before)
  const alone = path === '/v1/data/ports' ? FLAT : ALLOWED
  expect((await ask(server.url, { path, body: `${alone} \n`, headers })).status).toBe(200)
})

test('how paths are answered is remembered for a bounded number of them, the oldest of which goes first', () => {
  for (let count = 0; count <= REMEMBERED_PATHS; count++) planFor(snapshot, `app/x${count}`)
  expect(rememberedPlan(snapshot, 'app/x0')).toBeUndefined()
  expect(rememberedPlan(snapshot, 'app/x1')).toBeDefined()
  expect(rememberedPlan(snapshot, `app/x${REMEMBERED_PATHS}`)).toBeDefined()
  const long = `app/${'x'.repeat(2000)}`
  expect(planFor(snapshot, long)).toBeDefined()
  expect(rememberedPlan(snapshot, long)).toBeUndefined()
})

test('joins the reasons of a denial so that their own commas separate nothing', async () => {
  const answer = await postJson(server.url, '/v1/data/several', JSON.parse(FLAT))
  expect(answer.status).toBe(401)
  expect(objectOf(answer)).toMatchObject({ message: 'use one of: a, b; wait, then retry' })
})

test('names the near path when a runtime policy is misspelt', async () => {
  const answer = await postJson(server.url, '/v1/data/severl/deny', JSON.parse(FLAT))
  expect(answer.status).toBe(500)
  expect(JSON.stringify(objectOf(answer))).toContain('did you mean data.several.deny?')
})

describe('an explanation of the rules of a document', () => {
  const ROLES = [
    ['orchestrator'],
    ['orchestrator', 'author'],
    ['orchestrator', 'auditor'],
    ['admin'],
  ] as const
  const TOKENS = ROLES.map((roles) => ({
    ...{ roles, name: roles.join('-') },
    sha256: createHash('sha256').update(roles.join('-')).digest('hex'),
  }))
  const rule: RuleExplanation = {
    ...{ package: 'ports', rule: 'deny', file: 'ports.rego', row: 5, col: 1, text: 'deny contains' },
    ...{ outcome: 'fired', results: [], because: [] },
  }
  const asked: Parameters<ExplainDecision>[] = []
  let refusal: AppError | undefined
  let explaining: RoutesServer

  beforeAll(async () => {
    const explain: ExplainDecision = (...what) => {
      asked.push(what)
      if (refusal !== undefined) return Promise.reject(refusal)
      const packages = [{ package: 'ports', rules: [rule] }]
      const { decisionId, revision, outcome } = what[0]
      return Promise.resolve({
        ...{ decisionId, revision, outcome, packages, rulesLeftOut: 0, isCut: false },
        notes: [{ code: 'recorded_requests', message: 'Only recorded responses are used.' }],
      })
    }
    ;({ server: explaining } = await startPolicyServer(POLICIES, { explain }, TOKENS))
  })
  afterAll(() => explaining.stop(0))

  const explained = async (token: string, query = 'explain=fails') => {
    const headers = { authorization: `Bearer ${token}` }
    const body = JSON.stringify({ input: { user: 'bob' } })
    return objectOf(await ask(explaining.url, { path: `/v1/data/ports/deny?${query}`, body, headers }))
  }

  test.each(['orchestrator-author', 'orchestrator-auditor', 'admin'])('is given to %s', async (token) => {
    const { explanation, result } = await explained(token)
    expect(result).toEqual(['bob may not'])
    expect(explanation).toMatchObject([
      { op: 'note', message: 'Only recorded responses are used.' },
      { op: 'note', message: 'ports\n  deny fired  ports.rego:5:1' },
    ])
    const [{ kind, path, outcome }, options] = asked.at(-1) ?? expect.fail('nothing was asked')
    expect({ kind, path, outcome, options }).toEqual({
      ...{ kind: 'data', path: 'ports/deny', outcome: 'defined', options: { mode: 'fails' } },
    })
  })

  test('is lines where the response is laid out', async () => {
    const { explanation } = await explained('admin', 'explain=full&pretty')
    expect(explanation).toEqual([
      'Only recorded responses are used.',
      'ports',
      '  deny fired  ports.rego:5:1',
    ])
  })

  test('is refused to callers who may not read policies, who get the decision', async () => {
    const before = asked.length
    const { explanation, result } = await explained('orchestrator')
    expect(result).toEqual(['bob may not'])
    expect(explanation).toMatchObject([
      { message: expect.stringContaining('role auditor or author') as string },
    ])
    expect(asked).toHaveLength(before)
  })

  test('that is not possible now is said, and the decision is given', async () => {
    refusal = new AppError('unavailable', 'too many explanations are waiting')
    const { explanation, result } = await explained('admin')
    refusal = undefined
    expect(result).toEqual(['bob may not'])
    expect(explanation).toMatchObject([{ message: 'too many explanations are waiting' }])
  })

  test('is not made for an unknown mode', async () => {
    const before = asked.length
    expect(await explained('admin', 'explain=all')).not.toHaveProperty('explanation')
    expect(asked).toHaveLength(before)
  })
})
