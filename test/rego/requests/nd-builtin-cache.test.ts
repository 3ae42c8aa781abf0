import { expect, test } from 'vitest'

import { callKey } from '../../../src/rego/builtins/shared/recorded-calls.js'
import type { CallResult, RecordedCalls } from '../../../src/rego/builtins/shared/recorded-calls.js'
import { planDocument, evaluateDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { evaluateWithAnswers } from '../../../src/rego/requests/policy-requests.js'
import { ndBuiltinCache } from '../../../src/rego/requests/nd-builtin-cache.js'
import { replayCalls } from '../../../src/rego/requests/replayed-calls.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { loadPolicies } from '../../support/load-policies.js'
import { loopbackRequests } from '../../support/policy-requests.js'

const calls = (
  ...list: readonly (readonly [name: string, args: string, result: CallResult])[]
): RecordedCalls =>
  new Map(
    list.map(([name, text, result]) => {
      const args = [parseRegoText(text)]
      return [callKey(name, args), { name, args, result }]
    }),
  )
const value = (text: string): CallResult => ({ value: parseRegoText(text) })
const REPLY =
  '{"headers":{"content-type":["application/json"]},"raw_body":"{\\"a\\":1}","status":"200 OK","status_code":200}'

test('calls stand there by built-in and arguments, with what they gave, as in OPA', () => {
  const recorded = calls(
    ['rand.intn', '"k"', value('24')],
    ['net.lookup_ip_addr', '"h"', value('{"10.0.0.1"}')],
    ['http.send', '{"method":"get","url":"http://h/"}', value(REPLY)],
  )
  expect(JSON.parse(ndBuiltinCache(recorded, 10_000) ?? '')).toEqual({
    'rand.intn': { '["k"]': 24 },
    'net.lookup_ip_addr': { '["h"]': ['10.0.0.1'] },
    'http.send': {
      '[{"method":"get","url":"http://h/"}]': { ...(JSON.parse(REPLY) as object), body: { a: 1 } },
    },
  })
})

test('credentials do not: of headers only the names are kept, and keys not at all', () => {
  const request = `{"method":"get","url":"http://h/","tls_client_key":"PRIVATE",
    "headers":{"Authorization":"Bearer SECRET","X-Any":"SECRET","Accept":"a/b"},"body":{"password":"SECRET"}}`
  const text = ndBuiltinCache(calls(['http.send', request, value(REPLY)]), 10_000) ?? ''
  expect(text).not.toMatch(/SECRET|PRIVATE/)
  expect(text).toMatch(/X-Any.*a\/b|a\/b.*X-Any/)
})

test('a call that failed is left out, unless its policy took that for an answer', () => {
  const failure: CallResult = { failure: { cause: 'network', message: 'gone' } }
  expect(ndBuiltinCache(calls(['http.send', '{"method":"get","url":"u"}', failure]), 1000)).toBe('{}')
  const taken = calls(['http.send', '{"method":"get","url":"u","raise_error":false}', failure])
  expect(ndBuiltinCache(taken, 1000)).toContain('"eval_http_send_network_error"')
})

test('what is too long is left out as a whole', () => {
  const recorded = calls(
    ['rand.intn', '"k"', value('24')],
    ['http.send', '{"method":"get","url":"u"}', value(REPLY)],
  )
  expect(ndBuiltinCache(recorded, 100)).toBeUndefined()
  expect(ndBuiltinCache(recorded, 400)).toBeDefined()
})

test('a decision is made again with it, at its time, and asks nobody', async () => {
  const snapshot = await loadPolicies({
    'p.rego': `package p

import rego.v1

first := {"now": time.now_ns(), "dice": rand.intn("x", 1000000), "id": uuid.rfc4122("x")}
later := object.union(first, {"owner": reply.body, "status": reply.status_code})
reply := http.send({"method": "get", "url": "http://h/", "headers": {"authorization": "SECRET"}})
`,
  })
  const evaluate = (rule: string) => (call: ReturnType<typeof newCall>) =>
    evaluateDocument(planDocument(snapshot, ['p', rule]), undefined, call)
  const call = newCall({ nowMs: 1_700_000_000_000 })
  const before = JSON.parse(evaluate('first')(call) ?? '') as object
  const kept = calls([
    'http.send',
    '{"headers":{"authorization":"SECRET"},"method":"get","url":"http://h/"}',
    value(REPLY),
  ])
  const text = ndBuiltinCache(new Map([...(call.recorded ?? []), ...kept]), 10_000) ?? ''
  const { requests, recorded, nowMs = 0 } = replayCalls(text, loopbackRequests())
  const again = await evaluateWithAnswers(evaluate('later') as never, requests, { recorded, nowMs })
  expect(JSON.parse(String(again))).toEqual({ ...before, owner: { a: 1 }, status: 200 })
  await expect(
    evaluateWithAnswers(evaluate('later') as never, replayCalls('{}', loopbackRequests()).requests),
  ).rejects.toThrow('http.send was not kept with these arguments')
})
