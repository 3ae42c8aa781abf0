import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'

import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { callKey } from '../../../src/rego/builtins/shared/recorded-calls.js'
import type { RecordedCalls } from '../../../src/rego/builtins/shared/recorded-calls.js'
import type { PolicyRequests } from '../../../src/rego/requests/policy-requests.js'
import { makeResponseCache } from '../../../src/rego/requests/response-cache.js'
import { loopbackRequests } from '../../support/policy-requests.js'
import { startReceiver } from '../../support/receiver.js'
import type { Receiver } from '../../support/receiver.js'

const NOW_MS = Date.parse('2026-11-22T12:00:00Z')
const SECOND = 1000

let server: Receiver
let headers: Record<string, string>
let status: number
let requests: PolicyRequests

beforeAll(async () => {
  server = await startReceiver((response, place, { headers: sent }) => {
    const isKnown = sent['if-none-match'] === '"1"'
    response.writeHead(isKnown ? 304 : status, { date: new Date(NOW_MS).toUTCString(), ...headers })
    response.end(isKnown ? undefined : `answer ${place}`)
  })
})

beforeEach(() => {
  server.received.length = 0
  status = 200
  headers = {}
  requests = loopbackRequests()
  return () => requests.close()
})

afterAll(() => server.close())

/** The answer of a decision at this time. */
async function ask(
  parameters: Record<string, RegoValue>,
  nowMs = NOW_MS,
  by = requests,
): Promise<RegoValue | undefined> {
  const args = [RegoObject.fromRecord({ method: 'get', url: server.url, ...parameters })]
  const key = callKey('http.send', args)
  const recorded: RecordedCalls = new Map()
  const decision = by.begin(nowMs, new AbortController().signal)
  await decision.answer({ key, name: 'http.send', args }, recorded).finally(decision.end)
  const result = recorded.get(key)?.result
  if (result === undefined || 'failure' in result) throw new Error(result?.failure.message)
  return result.value instanceof RegoObject ? result.value.get('raw_body') : undefined
}

test.each([
  ['nothing that the policy does not want kept', { 'cache-control': 'max-age=60' }, {}, 0, false],
  ['for as long as its age allows', { 'cache-control': 'max-age=60' }, { cache: true }, 59, true],
  ['no longer than that', { 'cache-control': 'max-age=60' }, { cache: true }, 60, false],
  ['until it expires', { expires: 'Sun, 22 Nov 2026 12:01:00 GMT' }, { cache: true }, 59, true],
  ['not once it has expired', { expires: '0' }, { cache: true }, 0, false],
  ['nothing that says so', { 'cache-control': 'no-store, max-age=60' }, { cache: true }, 1, false],
  ['nothing that says nothing', {}, { cache: true }, 0, false],
  [
    'in either form',
    { 'cache-control': 'max-age=60' },
    { cache: true, caching_mode: 'deserialized' },
    1,
    true,
  ],
])('is kept %s', async (_, given, parameters, afterSeconds, isKept) => {
  headers = given
  expect(await ask(parameters)).toBe('answer 0')
  const second = await ask(parameters, NOW_MS + afterSeconds * SECOND)
  expect(second).toBe(isKept ? 'answer 0' : 'answer 1')
})

test('an answer is kept as long as the policy says, whatever its headers say', async () => {
  headers = { 'cache-control': 'no-store' }
  const forced = { force_cache: true, force_cache_duration_seconds: RegoNumber.of(30) }
  await ask(forced)
  expect(await ask(forced, NOW_MS + 29 * SECOND)).toBe('answer 0')
  expect(await ask(forced, NOW_MS + 30 * SECOND)).toBe('answer 1')
})

test('an answer ends when its time has passed, though the clock was set back by a day', async () => {
  let passedMs = 0
  const own = loopbackRequests({}, { passed: () => passedMs })
  onTestFinished(() => own.close())
  headers = { 'cache-control': 'max-age=60' }
  await ask({ cache: true }, NOW_MS, own)
  passedMs = 59 * SECOND
  expect(await ask({ cache: true }, NOW_MS - 86_400 * SECOND, own)).toBe('answer 0')
  passedMs = 60 * SECOND
  expect(await ask({ cache: true }, NOW_MS - 86_400 * SECOND, own)).toBe('answer 1')
})

test.each([
  ['max-age=60', { 'cache-control': 'max-age=60' }],
  ['Expires', { expires: new Date(NOW_MS + 60 * SECOND).toUTCString() }],
])('an answer that is dated a day ahead is kept for no longer by %s', async (_, given) => {
  headers = given
  const behindMs = NOW_MS - 86_400 * SECOND
  await ask({ cache: true }, behindMs)
  expect(await ask({ cache: true }, behindMs + 59 * SECOND)).toBe('answer 0')
  expect(await ask({ cache: true }, behindMs + 60 * SECOND)).toBe('answer 1')
})

test.each([500, 302])('an answer with status %d is not kept', async (given) => {
  status = given
  headers = { 'cache-control': 'max-age=60' }
  await ask({ cache: true })
  expect(await ask({ cache: true })).toBe('answer 1')
})

test('a stale answer that still holds is taken again, for as long as the server says now', async () => {
  headers = { 'cache-control': 'max-age=10', etag: '"1"' }
  await ask({ cache: true })
  headers = { 'cache-control': 'max-age=100', etag: '"1"' }
  expect(await ask({ cache: true }, NOW_MS + 20 * SECOND)).toBe('answer 0')
  expect(server.received).toHaveLength(2)
  expect(await ask({ cache: true }, NOW_MS + 90 * SECOND)).toBe('answer 0')
  expect(server.received).toHaveLength(2)
})

test('another request is not answered with it', async () => {
  headers = { 'cache-control': 'max-age=60' }
  await ask({ cache: true })
  expect(await ask({ cache: true, headers: RegoObject.fromRecord({ authorization: 'other' }) })).toBe(
    'answer 1',
  )
})

test('what was used last stays when there is no room for all', () => {
  const cache = makeResponseCache(3000)
  const cached = {
    response: { status: 200, reason: '', headers: {}, body: Buffer.alloc(500) },
    freshUntilMs: 1,
    freshUntilPassedMs: 1,
  }
  for (const key of ['a', 'b']) cache.set(key, cached)
  cache.get('a')
  cache.set('c', cached)
  expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
  cache.set('too large', { ...cached, response: { ...cached.response, body: Buffer.alloc(5000) } })
  expect(cache.get('too large')).toBeUndefined()
  for (const key of ['a', 'c']) cache.delete(key)
  expect(cache.bytes).toBe(0)
})
