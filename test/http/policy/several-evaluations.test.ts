import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import { RequestQueue } from '../../../src/http/transport/request-queue.js'
import { ask, objectOf } from '../../support/http-client.js'
import { startPolicyServer } from '../../support/policy-server.js'
import type { RecordedDecision } from '../../support/policy-server.js'
import type { RoutesServer } from '../../support/routes-server.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'

const POLICIES = {
  'app.rego': 'package app\n\nimport rego.v1\n\nallow if input.user == "ana"\n',
  'fails.rego': 'package fails\n\nimport rego.v1\n\nanswer := input.a\n\nanswer := input.b\n',
  'long.rego':
    'package long\n\nimport rego.v1\n\nanswer := count([x | some x in numbers.range(1, 100000); x > input.n])\n',
  'authz.rego': `package authz

import rego.v1

default answer := false

answer := true if input.subject.id == "ana"

answer := {"decision": false, "context": {"reason": "bob may only read"}} if {
	input.subject.id == "bob"
	input.action.name != "read"
}

answer := {"decision": true, "context": {"n": input.resource.n}} if input.subject.id == "carl"

answer := "perhaps" if input.subject.id == "eve"
`,
}

let server: RoutesServer
let decisions: readonly RecordedDecision[]

beforeAll(async () => {
  ;({ server, decisions } = await startPolicyServer(POLICIES, { accessDecision: 'authz/answer' }))
})
afterAll(() => server.stop(0))

describe('after the time of a request', () => {
  let late: RoutesServer
  beforeAll(async () => {
    const limits = { accessDecision: 'authz/answer', maxRequestMs: 0 }
    ;({ server: late } = await startPolicyServer(POLICIES, limits))
  })
  afterAll(() => late.stop(0))

  test('the other inputs of a batch fail, and are never a result', async () => {
    const inputs = { a: { user: 'ana' }, b: { user: 'ana' }, c: { user: 'ana' } }
    const answer = await ask(late.url, { path: '/v1/batch/data/app/allow', body: JSON.stringify({ inputs }) })
    expect(answer.status).toBe(207)
    const failed = {
      ...{ code: 'request_timeout', http_status_code: '503' },
      message: expect.stringContaining('fewer inputs') as unknown,
    }
    const decided = { decision_id: expect.any(String) as unknown, result: true, http_status_code: '200' }
    expect(objectOf(answer)['responses']).toEqual({ a: decided, b: failed, c: failed })
  })

  test('the other access evaluations are denials, whatever ends the request', async () => {
    const access = (options: object) => {
      const evaluations = ['bob', 'ana', 'ana'].map((id) => ({ subject: { type: 'user', id } }))
      const shared = { action: { name: 'write' }, resource: { type: 'gate', id: '1' } }
      const body = JSON.stringify({ ...shared, evaluations, options })
      return ask(late.url, {
        path: '/access/v1/evaluations',
        body,
        headers: { 'content-type': 'application/json' },
      })
    }
    const failed = { decision: false, context: { error: { status: 503 } } }
    const denied = { decision: false, context: { reason: 'bob may only read' } }
    for (const semantic of ['execute_all', 'permit_on_first_permit']) {
      const answer = await access({ evaluations_semantic: semantic })
      expect(objectOf(answer)['evaluations']).toMatchObject([denied, failed, failed])
    }
  })
})

describe('a batch', () => {
  const batch = (body: object) =>
    ask(server.url, { path: '/v1/batch/data/app/allow', body: JSON.stringify(body) })

  test('evaluates a document with each input, and records each as a decision', async () => {
    const before = decisions.length
    const answer = await ask(server.url, {
      path: '/v1/batch/data/app/allow',
      body: '{"inputs":{"a":{"n":1.50},"b":{"user":"bo"}},"common_input":{"user":"ana","trigger":{"type":"git"}}}',
    })
    expect(answer.status).toBe(200)
    const { batch_decision_id, responses } = objectOf(answer)
    expect(batch_decision_id).toEqual(expect.any(String))
    expect(responses).toEqual({
      a: { decision_id: expect.any(String) as string, result: true },
      b: { decision_id: expect.any(String) as string },
    })
    expect(decisions.slice(before).map(({ input }) => input)).toEqual([
      '{"user":"ana","trigger":{"type":"git"},"n":1.50}',
      '{"user":"bo","trigger":{"type":"git"}}',
    ])
  })

  test('responds with 207 if some evaluations fail, and 500 if all do', async () => {
    const path = '/v1/batch/data/fails/answer'
    const send = (inputs: object) => ask(server.url, { path, body: JSON.stringify({ inputs }) })
    const some = await send({ good: { a: 1 }, bad: { a: 1, b: 2 } })
    expect(some.status).toBe(207)
    expect(objectOf(some)['responses']).toEqual({
      good: { decision_id: expect.any(String) as string, result: 1, http_status_code: '200' },
      bad: expect.objectContaining({ code: 'internal_error', http_status_code: '500' }) as object,
    })
    expect((await send({ bad: { a: 1, b: 2 } })).status).toBe(500)
  })

  test('gives a response the status that its evaluation alone would have', async () => {
    const slow = makeSlowEvaluations(startOnThisThread)
    slow.stop()
    const evaluations = new Evaluations({ slow, sliceMs: 0, abandoned: () => undefined })
    const stopping = (await startPolicyServer(POLICIES, { evaluations })).server
    const path = '/v1/batch/data/long/answer'
    const answer = await ask(stopping.url, { path, body: '{"inputs":{"a":{"n":1}}}' })
    await stopping.stop(0)
    expect(answer.status).toBe(500)
    expect(objectOf(answer)['responses']).toMatchObject({ a: { http_status_code: '503' } })
  })

  test.each([
    [{}, /inputs must be an object of inputs by id/],
    [{ inputs: [1], common_input: 1 }, /inputs must be an object.*common_input must be an object/],
    [
      { inputs: Object.fromEntries(Array.from({ length: 1001 }, (_, id) => [id, {}])) },
      /at most 1000|1000 members/,
    ],
  ])('is refused with every problem: %#', async (body, message) => {
    const answer = await batch(body)
    expect(answer.status).toBe(400)
    expect(objectOf(answer)['message']).toMatch(message)
  })
})

describe('what a batch may cost', () => {
  const send = (body: string) => ask(server.url, { path: '/v1/batch/data/app/allow', body })

  test.each([
    ['', 'it is empty'],
    ['{"inputs":{}} x', "invalid character 'x' after top-level value"],
    [`{"inputs":{"a":${'['.repeat(1001)}${']'.repeat(1001)}}}`, 'exceeded max depth'],
  ])('a body that is no JSON is refused with the reason: %#', async (body, reason) => {
    const answer = await send(body)
    expect([answer.status, objectOf(answer)['message']]).toEqual([
      400,
      expect.stringMatching(`^the body is not valid JSON: .*${reason}`),
    ])
  })

  test('inputs that repeat a large common_input are bounded in total', async () => {
    const inputs = Object.fromEntries(Array.from({ length: 20 }, (_, id) => [id, {}]))
    const before = decisions.length
    const answer = await send(JSON.stringify({ inputs, common_input: { x: 'x'.repeat(1000) } }))
    expect([answer.status, objectOf(answer)['message']]).toEqual([
      413,
      expect.stringContaining('once common_input is part of each'),
    ])
    expect(decisions).toHaveLength(before)
  })

  test('each input waits for a turn', async () => {
    const takeTurn = vi.spyOn(RequestQueue.prototype, 'takeTurn')
    expect((await send('{"inputs":{"a":{},"b":{},"c":{}}}')).status).toBe(200)
    expect(takeTurn.mock.calls.slice(1)).toEqual([[0], [0], [0]])
    takeTurn.mockRestore()
  })
})

describe('an access evaluation (AuthZEN)', () => {
  const request = (id: string, name = 'deploy') => ({
    subject: { type: 'user', id },
    action: { name },
    resource: { type: 'pipeline', id: 'shop' },
  })
  const send = (path: string, body: object) =>
    ask(server.url, {
      path: `/access/v1/${path}`,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })

  test.each([
    ['ana', { decision: true }],
    ['bob', { decision: false, context: { reason: 'bob may only read' } }],
    ['nobody', { decision: false }],
  ])('of %s returns the decision', async (id, expected) => {
    const answer = await send('evaluation', request(id))
    expect([answer.status, objectOf(answer)]).toEqual([200, expected])
    expect(decisions.at(-1)).toMatchObject({
      path: 'authz/answer',
      outcome: expected.decision ? 'allow' : 'deny',
    })
  })

  test('is an error if the document is no decision, and names every missing part of a request', async () => {
    expect((await send('evaluation', request('eve'))).status).toBe(500)
    const { status, text } = await send('evaluation', { subject: { type: 'user' } })
    expect(status).toBe(400)
    for (const name of ['subject.id', 'action', 'resource']) expect(text).toContain(name)
  })

  test('keeps numbers as they are written, in the input and in the answer', async () => {
    const before = decisions.length
    const parts = '"subject":{"type":"user","id":"carl"},"action":{"name":"x"}'
    const resource = '"resource":{"type":"r","id":"1","n":12345678901234567891}'
    const headers = { 'content-type': 'application/json' }
    const one = await ask(server.url, {
      path: '/access/v1/evaluation',
      body: `{${parts},${resource}}`,
      headers,
    })
    const body = `{${parts},"evaluations":[{${resource}}],"options":{}}`
    const several = await ask(server.url, { path: '/access/v1/evaluations', body, headers })
    expect(one.text).toBe('{"context":{"n":12345678901234567891},"decision":true}\n')
    expect(several.text).toBe('{"evaluations":[{"context":{"n":12345678901234567891},"decision":true}]}\n')
    expect(decisions.slice(before).map(({ input }) => input)).toEqual(Array(2).fill(`{${parts},${resource}}`))
  })

  test('of several is bounded in total', async () => {
    const evaluations = Array.from({ length: 20 }, () => ({}))
    const answer = await send('evaluations', { context: { x: 'x'.repeat(1000) }, evaluations })
    expect(answer.status).toBe(413)
  })

  test('of several fills in defaults, and denies what fails', async () => {
    const { resource, action } = request('ana')
    const evaluations = [
      { subject: { type: 'user', id: 'ana' } },
      { subject: { type: 'user', id: 'eve' } },
      {},
    ]
    const answer = objectOf(await send('evaluations', { resource, action, evaluations }))
    expect(answer['evaluations']).toEqual([
      { decision: true },
      { decision: false, context: { error: { status: 500, message: expect.any(String) as string } } },
      { decision: false, context: { error: { status: 400, message: expect.any(String) as string } } },
    ])
  })

  test.each([
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
    ['execute_all', [true, false, true]],
  ])('of several with %s ends where it must', async (semantics, expected) => {
    const evaluations = ['ana', 'bob', 'ana'].map((id) => request(id))
    const options = { evaluations_semantic: semantics }
    const answer = objectOf(await send('evaluations', { evaluations, options }))
    expect((answer['evaluations'] as { decision: boolean }[]).map(({ decision }) => decision)).toEqual(
      expected,
    )
  })
})
