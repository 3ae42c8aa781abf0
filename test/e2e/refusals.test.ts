import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf } from '../support/http-client.js'
import { strictWalk } from '../support/orchestrator-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const STATIC = '/v1/staticPolicy/eval'
const BODY_LIMIT = 200_000

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({ 'policies/static/saves.rego': 'package static.saves\n\ndeny[x] { x := input.bad }\n' })
  tidegate = await startTidegate({ workspace, config: { server: { maxBodyBytes: BODY_LIMIT } } })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

describe('requests that are refused', () => {
  const refusals: readonly (readonly [
    name: string,
    path: string,
    body: string,
    type: string,
    status: number,
    message: RegExp,
  ])[] = [
    ['static policy without input', STATIC, '{}', 'application/json', 400, /input/],
    ['static policy with a null input', STATIC, '{"input":null}', 'application/json', 400, /input/],
    ['static policy with nothing', STATIC, '', 'application/json', 400, /input/],
    ['static policy with malformed JSON', STATIC, '{bad', 'application/json', 400, /invalid character 'b'/],
    ['static policy with cut-off JSON', STATIC, '{"input":{"new"', 'application/json', 400, /unexpected EOF/],
    [
      'static policy with malformed JSON as text',
      STATIC,
      '{"input":"{\\"new\\":"}',
      'application/json',
      400,
      /input must be a JSON object, or a string that contains one: /,
    ],
    ['static policy with an array as body', STATIC, '[]', 'application/json', 400, /array/],
    [
      'static policy as a form',
      STATIC,
      'input=1',
      'application/x-www-form-urlencoded',
      415,
      /application\/json/,
    ],
    ['static policy as text', STATIC, '{"input":{}}', 'text/plain', 415, /got text\/plain/],
    ['static policy without a type', STATIC, '{"input":{}}', '', 415, /Content-Type/],
    [
      'flat body, malformed',
      '/v1/data/opsmx',
      '{"executionId":"1",}',
      'application/json',
      400,
      /invalid character/,
    ],
    [
      'static policy with a body over the limit',
      STATIC,
      `{"input":"${'x'.repeat(BODY_LIMIT)}"}`,
      'application/json',
      413,
      /exceeds 200000 bytes/,
    ],
    [
      'data with a body over the limit',
      '/v1/data/judgment',
      `{"input":"${'x'.repeat(BODY_LIMIT)}"}`,
      'application/json',
      413,
      /exceeds 200000 bytes/,
    ],
    ['an unknown route', '/v1/nothing', '{}', 'application/json', 404, /nothing at \/v1\/nothing/],
    ['another policy route', '/v1/staticPolicy', '{}', 'application/json', 404, /nothing at/],
  ]

  test.each(refusals)('%s', async (_name, path, body, type, status, message) => {
    const answer = await ask(tidegate.url, {
      path,
      body,
      headers: type === '' ? {} : { 'content-type': type },
    })
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    const error = objectOf(answer)
    expect(error['message']).toMatch(message)
    expect(typeof error['code']).toBe('string')
    expect(strictWalk(answer.text, 'deny')).toEqual([])
  })

  test('a small gzip that unpacks to more than the limit is too large', async () => {
    const body = gzipSync(JSON.stringify({ input: 'x'.repeat(BODY_LIMIT) }))
    const answer = await ask(tidegate.url, {
      path: STATIC,
      body,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
    expect(answer.status).toBe(413)
  })

  test.each([
    ['PUT', '/v1/batch/data/judgment', 'POST'],
    ['GET', STATIC, 'POST'],
    ['DELETE', '/v0/data/judgment', 'POST'],
    ['DELETE', '/', 'GET, HEAD, POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['PUT', '/metrics', 'GET, HEAD'],
    ['POST', '/decisions', 'GET, HEAD'],
    ['DELETE', '/decisions/x', 'GET, HEAD'],
  ])('%s on %s names the methods that there are', async (method, path, allow) => {
    const answer = await ask(tidegate.url, { method, path })
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe(allow)
    expect(objectOf(answer)['code']).toBe('method_not_allowed')
  })
})
