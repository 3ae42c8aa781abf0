import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw } from '../support/http-transports.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { failToServe, startTidegate, untilLogged } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'

const TOKENS = {
  orchestrator: 'orchestrator-token-5f1c',
  approver: 'approver-token-9d27',
  auditor: 'auditor-token-71aa',
  admin: 'admin-token-c3e0',
} as const
type Role = keyof typeof TOKENS
const WRONG = 'wrong-token-0000'

const tokens = Object.entries(TOKENS).map(([role, token]) => ({
  name: `the ${role}`,
  roles: [role],
  sha256: createHash('sha256').update(token).digest('hex'),
}))

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({
    'policies/static/none.rego': 'package static.none\n\nimport rego.v1\n\ndeny contains "x" if false\n',
  })
  tidegate = await startTidegate({ workspace, config: { auth: { tokens }, log: { level: 'debug' } } })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const POLICY_REQUESTS = [
  { method: 'POST', path: '/v1/staticPolicy/eval' },
  { method: 'POST', path: '/v1/data/static/none' },
  { method: 'GET', path: '/v1/data/static/none' },
  { method: 'POST', path: '/v0/data/static/none' },
  { method: 'POST', path: '//v1/staticPolicy/eval/' },
]
const AUDIT_REQUESTS = [
  { method: 'GET', path: '/decisions' },
  { method: 'GET', path: '/metrics' },
]

function statusWith(token: string | undefined, request: { method: string; path: string }): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const body = request.method === 'POST' ? '{"input":{}}' : undefined
  return ask(tidegate.url, { ...request, headers, body }).then(({ status }) => status)
}

describe('bearer tokens', () => {
  test.each(POLICY_REQUESTS)(
    '$method $path: orchestrator and admin may, others get 403 and never 401',
    async (request) => {
      const statuses: Record<Role | 'wrong' | 'none', number> = {
        orchestrator: await statusWith(TOKENS.orchestrator, request),
        admin: await statusWith(TOKENS.admin, request),
        approver: await statusWith(TOKENS.approver, request),
        auditor: await statusWith(TOKENS.auditor, request),
        wrong: await statusWith(WRONG, request),
        none: await statusWith(undefined, request),
      }
      expect(statuses).toEqual({
        orchestrator: 200,
        admin: 200,
        approver: 403,
        auditor: 403,
        wrong: 403,
        none: 403,
      })
    },
  )

  test.each(AUDIT_REQUESTS)(
    '$method $path: auditor and admin may, others get 403, strangers 401',
    async (request) => {
      expect(await statusWith(TOKENS.auditor, request)).toBe(200)
      expect(await statusWith(TOKENS.admin, request)).toBe(200)
      expect(await statusWith(TOKENS.orchestrator, request)).toBe(403)
      expect(await statusWith(TOKENS.approver, request)).toBe(403)
      expect(await statusWith(WRONG, request)).toBe(401)
      expect(await statusWith(undefined, request)).toBe(401)
    },
  )

  test.each(['/v1/batch/data/static/none', '/access/v1/evaluation', '/access/v1/evaluations'])(
    'POST %s: 401 is never a denial there, so strangers get it',
    async (path) => {
      const request = { method: 'POST', path }
      expect(await statusWith(TOKENS.approver, request)).toBe(403)
      expect(await statusWith(WRONG, request)).toBe(401)
      expect(await statusWith(undefined, request)).toBe(401)
    },
  )

  test('an unauthenticated client learns how to authenticate', async () => {
    const answer = await ask(tidegate.url, { path: '/decisions' })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tidegate"')
    expect(objectOf(answer)).toMatchObject({ code: 'unauthenticated' })
  })

  test('health needs no token for any query', async () => {
    for (const path of ['/health', '/health?bundles', '/health?plugins', '/health/'])
      expect((await ask(tidegate.url, { path })).status).toBe(200)
  })

  test.each([
    ['another scheme', `Basic ${Buffer.from(`x:${TOKENS.admin}`).toString('base64')}`],
    ['a token without a scheme', TOKENS.admin],
    ['an empty token', 'Bearer '],
    ['a prefix of a token', `Bearer ${TOKENS.admin.slice(0, -1)}`],
    ['a token and more', `Bearer ${TOKENS.admin} ${TOKENS.admin}`],
    ['the hash of a token', `Bearer ${tokens[3]?.sha256 ?? ''}`],
  ])('%s does not pass', async (_name, authorization) => {
    expect((await ask(tidegate.url, { path: '/decisions', headers: { authorization } })).status).toBe(401)
  })

  test('the scheme may be written in any letter case', async () => {
    const headers = { authorization: `bearer ${TOKENS.auditor}` }
    expect((await ask(tidegate.url, { path: '/decisions', headers })).status).toBe(200)
  })

  test('the decision is recorded under the name of the token, regardless of the claimed user', async () => {
    const headers = { authorization: `Bearer ${TOKENS.orchestrator}`, 'x-spinnaker-user': 'mallory' }
    const { decision_id: id } = objectOf(
      await postJson(tidegate.url, '/v1/data/static/none', { input: 1 }, headers),
    )
    const kept = await ask(tidegate.url, {
      path: `/decisions/${String(id)}`,
      headers: { authorization: `Bearer ${TOKENS.auditor}` },
    })
    expect(objectOf(kept)).toMatchObject({ caller: 'the orchestrator' })
  })

  test('an unauthenticated request decides nothing and reads no body', async () => {
    const answer = await ask(tidegate.url, { path: '/v1/data/static/none', body: '{bad' })
    expect(answer.status).toBe(403)
  })

  test('no token is in the log', () => {
    expect(tidegate.log().some(({ msg }) => msg === 'request')).toBe(true)
    for (const token of [...Object.values(TOKENS), WRONG]) expect(tidegate.logText()).not.toContain(token)
  })
})

describe('a service on loopback without tokens', () => {
  let open: TidegateProcess
  beforeAll(async () => {
    open = await startTidegate({ workspace, dataDir: 'untokened' })
  })
  afterAll(() => open.end('SIGTERM'))

  const OWN = '/v1/data/static/none'
  const asked = async (method: string, path: string, headers: Record<string, string>): Promise<string> => {
    const type = { 'content-type': 'text/plain', ...headers }
    const answer = await ask(open.url, {
      method,
      path,
      headers: type,
      body: method === 'GET' ? undefined : '{}',
    })
    return `${answer.status} ${/"code": "(?<code>\w+)"/.exec(answer.text)?.groups?.['code'] ?? ''}`.trim()
  }

  test.each([
    ['POST', OWN],
    ['GET', OWN],
    ['GET', '/health'],
    ['GET', '/metrics'],
    ['GET', '/nothing-here'],
    ['POST', '/gates/1/trigger'],
    ['POST', '/platform/echo'],
  ])('refuses %s %s under a name that is not its own', async (method, path) => {
    expect(await asked(method, path, { host: 'rebound.test:8181' })).toBe('403 host_not_allowed')
  })

  test('reports the refused host and the setting in its log and in the response', async () => {
    const answer = await ask(open.url, { path: '/health', headers: { host: 'rebound.test' } })
    expect(objectOf(answer)['message']).toMatch(/"rebound\.test".*server\.allowedHosts/)
    await untilLogged(open, ({ code }) => code === 'host_not_allowed')
  })

  test.each(['localhost', 'LOCALHOST:8181', 'tidegate.localhost', '127.0.0.1:1', '127.9.9.9', '[::1]:8181'])(
    'answers as %s',
    async (host) => {
      expect(await asked('POST', OWN, { host })).toBe('200')
      expect(await asked('GET', '/health', { host })).toBe('200')
    },
  )

  test.each([
    { origin: 'http://elsewhere.test' },
    { origin: 'http://localhost:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('takes nothing from a page of another origin: %j', async (headers) => {
    for (const path of [OWN, '/gates/1/trigger', '/platform/echo', '/outbox/1/resend'])
      expect(await asked('POST', path, headers)).toBe('403 cross_origin')
    expect(await asked('GET', '/health', headers)).toBe('200')
  })

  test('takes requests of its own pages', async () => {
    const { host, origin } = new URL(open.url)
    expect(await asked('POST', OWN, { host, origin, 'sec-fetch-site': 'same-origin' })).toBe('200')
  })

  test('a kept connection is looked at with each request', async () => {
    const { hostname, port } = new URL(open.url)
    const one = (host: string): string =>
      `POST ${OWN} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`
    expect(hostname).toBe('127.0.0.1')
    const answers = await sendRaw(Number(port), one('localhost'), one('localhost'), one('rebound.test'))
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 403'])
  })
})

describe('the address', () => {
  const anywhere = (extra: object = {}): Record<string, Record<string, unknown>> => ({
    server: { addr: '0.0.0.0:0', ...extra },
  })

  test('beyond loopback it does not start without tokens', async () => {
    const { code, output } = await failToServe({ workspace, config: anywhere() })
    expect(code).toBe(2)
    expect(output).toMatch(/auth\.tokens/)
    expect(output).toMatch(/insecure/)
  })

  test.each([
    ['with --insecure', {}, ['--insecure']],
    ['with server.insecure', { insecure: true }, []],
  ])('beyond loopback it starts %s, and warns', async (_name, extra, args) => {
    const open = await startTidegate({ workspace, config: anywhere(extra), args, dataDir: 'open' })
    expect(open.log().find(({ level }) => level === 'warn')?.msg).toMatch(/without tokens/)
    expect(await open.end('SIGTERM')).toBe(0)
  })

  test('beyond loopback without tokens it answers to any name, or to those that are listed', async () => {
    const health = { path: '/health', headers: { host: 'tidegate.somewhere:8181' } }
    const listed = { server: { addr: '0.0.0.0:0', insecure: true, allowedHosts: ['tidegate', '*.cluster'] } }
    const open = await startTidegate({ workspace, config: anywhere({ insecure: true }), dataDir: 'open' })
    const here = new URL(open.url).port
    expect((await ask(`http://127.0.0.1:${here}`, health)).status).toBe(200)
    expect(await open.end('SIGTERM')).toBe(0)
    const named = await startTidegate({ workspace, config: listed, dataDir: 'open' })
    const base = `http://127.0.0.1:${new URL(named.url).port}`
    expect((await ask(base, health)).status).toBe(403)
    for (const host of ['tidegate:8181', 'a.b.cluster', '10.1.2.3:8181', 'localhost'])
      expect((await ask(base, { ...health, headers: { host } })).status).toBe(200)
    expect(await named.end('SIGTERM')).toBe(0)
  })

  test('beyond loopback it starts with tokens', async () => {
    const open = await startTidegate({
      workspace,
      config: { ...anywhere(), auth: { tokens } },
      dataDir: 'open',
    })
    expect(open.log().some(({ level }) => level === 'warn')).toBe(false)
    expect(await open.end('SIGTERM')).toBe(0)
  })

  test('an address in use is named', async () => {
    const { host } = new URL(tidegate.url)
    const { code, output } = await failToServe({
      workspace,
      args: ['--addr', host, '--data-dir', `${workspace.path}/other`],
    })
    expect(code).toBe(2)
    expect(output).toContain(`cannot listen on ${host}: another program uses the port`)
  })
})
