import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'

import type { RecordedCalls } from '../../../src/rego/builtins/shared/recorded-calls.js'
import { planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import type { PolicyRequests } from '../../../src/rego/requests/policy-requests.js'
import type { RequestSettings } from '../../../src/rego/requests/request-settings.js'
import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import type { EvaluateOptions } from '../../../src/rego/slow/evaluations-options.js'
import type { SlowEvaluations } from '../../../src/rego/slow/slow-evaluations.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'
import { loopbackRequests } from '../../support/policy-requests.js'
import { startReceiver } from '../../support/receiver.js'
import type { Received, Receiver } from '../../support/receiver.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'

const NOW_MS = Date.parse('2026-11-22T12:00:00Z')
const POLICIES = `package p

import rego.v1

answer := http.send(input.request)
body := answer.body
twice := [http.send(input.request), http.send(input.request)]
chain := http.send({"method": "get", "url": first.raw_body}).raw_body if {
  first := http.send({"method": "get", "url": input.request.url})
}
many := {n | some n in numbers.range(1, input.count); http.send({"method": "get", "url": sprintf("%s/%d", [input.request.url, n])}).status_code == 200}
deny contains "not known" if http.send(input.request).status_code != 200
addresses := net.lookup_ip_addr(input.name)
marked := [http.send({"method": "get", "url": sprintf("%s/%d/%d", [input.request.url, time.now_ns(), rand.intn("x", 1000000)])}).status_code, time.now_ns()]
`

let snapshot: Snapshot
let server: Receiver
let answer: (response: ServerResponse, request: Received, place: number) => void
let slow: SlowEvaluations
const opened: PolicyRequests[] = []

beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICIES })
  slow = makeSlowEvaluations(startOnThisThread)
  server = await startReceiver((response, place, request) => answer(response, request, place))
})

afterEach(async () => {
  server.received.length = 0
  await Promise.all(opened.splice(0).map((requests) => requests.close()))
})

afterAll(async () => {
  slow.stop()
  await server.close()
})

const json = (value: unknown) => (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

function open(settings: Partial<RequestSettings> = {}): PolicyRequests {
  const requests = loopbackRequests(settings)
  opened.push(requests)
  return requests
}

async function ask(
  rule: string,
  input: Record<string, unknown>,
  requests = open(),
  options: Partial<EvaluateOptions> & { readonly sliceMs?: number } = {},
): Promise<unknown> {
  const { sliceMs = 1000 } = options
  const evaluations = new Evaluations({ slow, sliceMs, abandoned: () => undefined, requests })
  const bytes = Buffer.from(JSON.stringify(input))
  const text = await evaluations.document(planDocument(snapshot, ['p', rule]), bytes, {
    nowMs: NOW_MS,
    ...options,
  })
  return text === undefined ? undefined : (JSON.parse(text) as unknown)
}

const get = (more: Record<string, unknown> = {}, path = '/x') => ({
  request: { method: 'get', url: `${server.url}${path}`, ...more },
})

describe('a policy that asks another', () => {
  test('continues with the answer, in the shape that OPA gives it', async () => {
    answer = json({ owner: 'ana' })
    expect(await ask('answer', get({ headers: { 'X-Who': 'me' } }))).toMatchObject({
      status: '200 OK',
      status_code: 200,
      body: { owner: 'ana' },
      raw_body: '{"owner":"ana"}',
      headers: { 'content-type': ['application/json'], 'content-length': ['15'] },
    })
    expect(server.received[0]?.headers['x-who']).toBe('me')
  })

  test('reads an answer that was packed since it asked for that', async () => {
    answer = (response, { headers }) =>
      response.setHeader('content-encoding', headers['accept-encoding'] ?? '').end(gzipSync('ana'))
    expect(await ask('answer', get())).toMatchObject({ raw_body: 'ana' })
  })

  test('is asked for once however often one decision calls it, and again by the next', async () => {
    answer = json(1)
    const requests = open()
    const [first, second] = (await ask('twice', get(), requests)) as [unknown, unknown]
    expect(first).toEqual(second)
    expect(server.received).toHaveLength(1)
    await ask('twice', get(), requests)
    expect(server.received).toHaveLength(2)
  })

  test('may ask on with what it was answered', async () => {
    answer = (response, { path }) => response.end(path === '/x' ? `${server.url}/next` : 'there')
    expect(await ask('chain', get())).toBe('there')
    expect(server.received.map(({ path }) => path)).toEqual(['/x', '/next'])
  })

  test('is evaluated again at the same time and with the same random values', async () => {
    answer = (response) => response.end()
    expect(await ask('marked', get())).toEqual([200, NOW_MS * 1_000_000])
    expect(server.received).toHaveLength(1)
  })

  test.each([0, 1000])('does so with slices of %d ms, and tells what it was answered', async (sliceMs) => {
    answer = json({ owner: 'ana' })
    let told: RecordedCalls | undefined
    const recorded = (calls: RecordedCalls): void => void (told = calls)
    expect(await ask('body', get(), open(), { sliceMs, recorded })).toEqual({ owner: 'ana' })
    expect([...(told?.values() ?? [])].map(({ name }) => name)).toEqual(['http.send'])
    expect(server.received).toHaveLength(1)
  })

  test('keeps nobody else waiting', async () => {
    const held: ServerResponse[] = []
    answer = (response) => void held.push(response)
    const waiting = ask('body', get())
    await server.count(1)
    answer = json('quick')
    expect(await ask('body', get())).toBe('quick')
    held[0]?.setHeader('content-type', 'application/json').end('"late"')
    expect(await waiting).toBe('late')
  })
})

describe('what a policy says of a request', () => {
  test('is sent: method, headers, and a body as Go writes it or as it stands', async () => {
    answer = (response) => response.end()
    await ask('answer', get({ method: 'POST', body: { b: '<', a: [1.5] } }))
    await ask('answer', get({ method: 'put', body: { a: 1 }, raw_body: 'as it is' }))
    expect(server.received.map(({ body }) => body)).toEqual(['{"a":[1.5],"b":"\\u003c"}', 'as it is'])
  })

  test.each([
    ['text/plain', {}, '{"a":1}', null],
    ['text/plain', { force_json_decode: true }, '{"a":1}', { a: 1 }],
    ['text/plain', { force_yaml_decode: true }, 'a: [1]', { a: [1] }],
    ['application/yaml', {}, 'a: 1', { a: 1 }],
    ['application/vnd.x+json; charset=utf-8', {}, '[2]', [2]],
    ['application/json', {}, 'no json', null],
  ])('decides how a body of %s is read with %j', async (type, parameters, text, body) => {
    answer = (response) => response.setHeader('content-type', type).end(text)
    expect(await ask('answer', get(parameters))).toMatchObject({ body, raw_body: text })
  })

  test('follows redirects only when told to, and gives no credentials to another host', async () => {
    answer = (response, { path }) =>
      path === '/x'
        ? response.writeHead(302, { location: server.url.replace('127.0.0.1', 'localhost') + '/y' }).end()
        : response.end('there')
    expect(await ask('answer', get())).toMatchObject({ status_code: 302 })
    const followed = get({ enable_redirect: true, headers: { authorization: 'Bearer x', accept: 'a/b' } })
    expect(await ask('answer', followed)).toMatchObject({ status_code: 200, raw_body: 'there' })
    expect(server.received[1]?.headers.authorization).toBe('Bearer x')
    expect(server.received[2]?.headers.authorization).toBeUndefined()
    expect(server.received[2]?.headers.accept).toBe('a/b')
  })

  test('repeats it when the network failed, as often as it says', async () => {
    answer = (response, _, place) => (place < 2 ? response.destroy() : response.end('at last'))
    expect(await ask('answer', get({ max_retry_attempts: 2 }))).toMatchObject({ raw_body: 'at last' })
    expect(server.received).toHaveLength(3)
  })

  test.each([
    [{ bogus: 1 }, 'operand 1 invalid request parameters(s): {"bogus"}'],
    [{ url: 1 }, '"url" must be a string'],
    [{ timeout: 'soon' }, 'time: invalid duration'],
    [{ force_cache: true }, "'force_cache' set but 'force_cache_duration_seconds' parameter is missing"],
    [{ cache: 'yes' }, 'invalid value for "cache" field'],
    [{ headers: { a: 1 } }, 'invalid type for headers value 1'],
    [{ max_retry_attempts: -1 }, 'invalid value -1 for field "max_retry_attempts"'],
    [{ tls_insecure_skip_verify: 'yes' }, 'strconv.ParseBool: parsing "\\"yes\\"": invalid syntax'],
    [{ raise_error: 1 }, 'invalid value for raise_error field'],
  ])('is refused where it is wrong: %j', async (parameters, message) => {
    await expect(ask('answer', get(parameters), open(), { strictBuiltinErrors: true })).rejects.toMatchObject(
      {
        details: [{ message: expect.stringContaining(message) as unknown }],
      },
    )
    expect(await ask('answer', get(parameters))).toBeUndefined()
    expect(server.received).toHaveLength(0)
  })
})

describe('a request that fails', () => {
  const refused = { request: { method: 'get', url: 'http://127.0.0.1:1/x' } }

  test('leaves the expression undefined, and is an error in strict mode', async () => {
    expect(await ask('answer', refused)).toBeUndefined()
    await expect(ask('answer', refused, open(), { strictBuiltinErrors: true })).rejects.toMatchObject({
      details: [
        {
          code: 'eval_builtin_error',
          message: expect.stringMatching(/^http\.send: Get "http:\/\/127/) as unknown,
        },
      ],
    })
  })

  test('is an answer where the policy wants it so', async () => {
    const request = { ...refused.request, raise_error: false }
    expect(await ask('answer', { request })).toEqual({
      status_code: 0,
      error: {
        code: 'eval_http_send_network_error',
        message: expect.stringMatching(/^Get "http:\/\/127\.0\.0\.1:1\/x": .*ECONNREFUSED/) as unknown,
      },
    })
    expect(await ask('answer', { request: { ...request, nope: 1 } })).toMatchObject({
      error: { code: 'eval_http_send_internal_error' },
    })
  })

  test('is one that takes longer than the policy gives it', async () => {
    answer = () => undefined
    expect(await ask('answer', get({ timeout: '50ms', raise_error: false }))).toMatchObject({
      status_code: 0,
      error: { message: expect.stringContaining('request timed out') as unknown },
    })
  })
})

describe('what may not be asked ends the decision', () => {
  test.each([{ timeout: '1h' }, {}, { timeout: 0 }, { timeout: '-1s' }])(
    'an answer that the policy would wait for with %j, and the service does not',
    async (parameters) => {
      answer = () => undefined
      await ends(get({ raise_error: false, ...parameters }), 'policies.requests.timeoutSeconds', {
        timeoutSeconds: 0.05,
      })
    },
  )

  test('and no decision waits for the connection of another', async () => {
    const held: ServerResponse[] = []
    answer = (response) => {
      held.push(response)
      if (held.length === 150) for (const each of held) each.end()
    }
    const requests = open()
    const asked = Array.from({ length: 150 }, (_, i) => ask('answer', get({}, `/${i}`), requests))
    expect(await Promise.all(asked)).toHaveLength(150)
  })

  const ends = async (
    input: Record<string, unknown>,
    message: string,
    settings: Partial<RequestSettings> = {},
    rule = 'deny',
  ) => {
    await expect(ask(rule, input, open(settings))).rejects.toMatchObject({
      kind: 'evaluation_failed',
      code: 'evaluation_request_refused',
      message: expect.stringContaining(message) as unknown,
    })
  }
  const to = (url: string, more = {}) => ({ request: { method: 'get', url, raise_error: false, ...more } })

  test.each([
    ['http://127.0.0.2:1/', ['127.0.0.1'], 'not among the allowed hosts'],
    ['http://10.1.2.3/', ['10.1.2.3'], 'a private address'],
    ['http://169.254.169.254/latest', ['169.254.169.254'], 'a link-local address, which is never allowed'],
    ['http://user:secret@127.0.0.1/', ['127.0.0.1'], 'user name or password'],
    ['unix://localhost/x?socket=%2Ftmp%2Fs', ['localhost'], 'only http and https'],
  ])('%s', async (url, allowedHosts, message) => {
    await ends(to(url), message, { allowedHosts })
  })

  test('such as a redirect to another host', async () => {
    answer = (response) => response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end()
    await ends(get({ enable_redirect: true, raise_error: false }), 'not among the allowed hosts')
  })

  test('such as an answer that is too large', async () => {
    answer = (response) => response.end('x'.repeat(5000))
    await ends(get({ raise_error: false }), 'more than 4096 bytes', { maxResponseBytes: 4096 })
  })

  test('such as more requests than one decision may make, or longer ones', async () => {
    answer = (response) => response.end()
    await ends({ ...get(), count: 5 }, 'more than 4 requests', { maxPerDecision: 4 }, 'many')
    expect(server.received).toHaveLength(4)
    answer = () => undefined
    await ends(get({ raise_error: false }), 'longer than 1 s', { maxTotalSeconds: 1 })
  })

  test.each(['tls_ca_cert_file', 'tls_client_key_env_variable', 'tls_insecure_skip_verify'])(
    'such as %s',
    async (name) => {
      const value = name.startsWith('tls_insecure') ? true : 'X'
      await ends(get({ [name]: value, raise_error: false }), `${name} is not supported`)
      expect(server.received).toHaveLength(0)
    },
  )

  test('such as a method that nobody sends', async () => {
    await ends(get({ method: 'connect', raise_error: false }), 'the method "CONNECT" is not sent')
  })

  test('while too many decisions wait, another is to come later', async () => {
    answer = () => undefined
    const requests = open({ maxWaiting: 1, maxTotalSeconds: 2 })
    const first = ask('body', get(), requests)
    first.catch(() => undefined)
    await server.count(1)
    await expect(ask('body', get(), requests)).rejects.toMatchObject({ kind: 'unavailable' })
    await requests.close()
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('names', () => {
  test('are looked up where they are among the hosts', async () => {
    expect(await ask('addresses', { name: '127.0.0.1' })).toEqual(['127.0.0.1'])
    expect(await ask('addresses', { name: 'localhost' })).toContain('127.0.0.1')
  })

  test('are not looked up elsewhere', async () => {
    await expect(ask('addresses', { name: 'other.invalid' })).rejects.toMatchObject({
      code: 'evaluation_request_refused',
    })
  })
})
