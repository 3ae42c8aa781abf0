import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
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

  test('a stranger is told how to authenticate', async () => {
    const answer = await ask(tidegate.url, { path: '/decisions' })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tidegate"')
    expect(objectOf(answer)).toMatchObject({ code: 'unauthenticated' })
  })

  test('health needs no token, whatever it is asked', async () => {
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

  test('who decided is the name of the token, whatever user is claimed', async () => {
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
    expect(output).toContain(`cannot listen on ${host}: another program has the port`)
  })
})
