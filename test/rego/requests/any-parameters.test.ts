import fc from 'fast-check'
import { expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { isLoopbackHost } from '../../../src/lib/outbound/address-policy.js'
import { raisesErrors, readParameters, readRequest } from '../../../src/rego/builtins/http/http-request.js'
import { BuiltinError } from '../../../src/rego/builtins/shared/builtin.js'
import { conditionsOf, freshUntilMs, mayBeStored } from '../../../src/rego/requests/cached-response.js'
import { loopbackRequests } from '../../support/policy-requests.js'
import { replayCalls } from '../../../src/rego/requests/replayed-calls.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'

const RUNS = { numRuns: 500 }
const NAMES = [
  ...['method', 'url', 'body', 'raw_body', 'headers', 'timeout', 'enable_redirect', 'raise_error', 'cache'],
  ...['force_cache', 'force_cache_duration_seconds', 'caching_mode', 'max_retry_attempts'],
  ...['cache_ignored_headers', 'tls_ca_cert', 'tls_use_system_certs', 'tls_insecure_skip_verify'],
]

test('whatever a policy gives as parameters is a request or an error of the call', () => {
  const parameters = fc.dictionary(fc.constantFrom(...NAMES), fc.jsonValue({ maxDepth: 2 }))
  const check = (value: object): void => {
    const object = parseRegoText(JSON.stringify({ method: 'get', url: 'http://h/', ...value }))
    if (!(object instanceof RegoObject)) throw new Error('it is an object')
    try {
      raisesErrors(object)
      const { timeoutMs = 1, maxRetries } = readRequest(readParameters([object]))
      expect(Number.isNaN(timeoutMs) || maxRetries < 0).toBe(false)
    } catch (raw) {
      expect(raw).toBeInstanceOf(BuiltinError)
    }
  }
  fc.assert(fc.property(parameters, check), RUNS)
})

test('whatever a server gives as headers is fresh until some time, or cannot be read', () => {
  const directive = fc.oneof(
    fc.constantFrom('max-age=1', 'no-store', 'max-age=', 'max-age=1=2', '='),
    fc.string(),
  )
  const list = fc.array(directive, { maxLength: 3 }).map((parts) => [parts.join(', ')])
  const headers = fc.dictionary(
    fc.constantFrom('cache-control', 'date', 'expires', 'etag', 'last-modified'),
    fc.oneof(list, fc.constant(['Sun, 22 Nov 2026 12:00:00 GMT'])),
  )
  const check = (given: Record<string, readonly string[]>): void => {
    expect(Number.isNaN(freshUntilMs(given, 0))).toBe(false)
    expect(typeof mayBeStored(given)).toBe('boolean')
    for (const [, value] of conditionsOf(given) ?? []) expect(value).not.toBe('')
  }
  fc.assert(fc.property(headers, check), RUNS)
})

test('whatever a file holds is calls of a decision, or refused', () => {
  const file = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .dictionary(
        fc.constantFrom('http.send', 'rand.intn', 'time.now_ns'),
        fc.dictionary(fc.string(), fc.jsonValue()),
      )
      .map((value) => JSON.stringify(value)),
  )
  const check = (text: string): void => {
    try {
      replayCalls(text, loopbackRequests())
    } catch (raw) {
      expect(raw).toBeInstanceOf(AppError)
    }
  }
  fc.assert(fc.property(file, check), RUNS)
})

test('a list is no calls', () => {
  expect(() => replayCalls('[]', loopbackRequests())).toThrow('the calls of a decision are an object')
})

test.each([
  ['localhost', true],
  ['a.LOCALHOST.', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['localhost.example.org', false],
  ['10.0.0.1', false],
  ['example.org', false],
])('that %s is this machine: %s', (host, is) => {
  expect(isLoopbackHost(host)).toBe(is)
})
