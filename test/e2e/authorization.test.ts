import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

/** Callers may do what the policy lists. Its reason shows the input for paths with `echo`. */
const CASES = new URL('../cases/http/authorization/', import.meta.url)
const TOKENS = { ann: 'ann-token', root: 'root-token', ci: 'ci-token' }
const tokens = [
  { name: 'ann', roles: ['auditor'], sha256: sha256(TOKENS.ann) },
  { name: 'root', roles: ['admin'], sha256: sha256(TOKENS.root) },
  { name: 'ci', roles: ['orchestrator'], sha256: sha256(TOKENS.ci) },
]

const APP = readFileSync(new URL('app.rego', CASES), 'utf8')
const POLICIES = [CASES.pathname]
const workspace = makeWorkspace({ 'undefined/app.rego': APP })
afterAll(workspace.remove)

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

interface Sent {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function send(url: string, { method = 'GET', path, token, headers, body }: Sent): Promise<Answered> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return ask(url, { method, path, headers: { ...type, ...authorization, ...headers }, body })
}

const REFUSED = {
  code: 'unauthorized',
  message: 'request rejected by administrative policy',
}

describe.each([{ processes: 1 }, { processes: 2 }])(
  'with system.authz and $processes processes',
  ({ processes }) => {
    let tidegate: TidegateProcess
    beforeAll(async () => {
      tidegate = await startTidegate({
        workspace,
        directories: POLICIES,
        dataDir: `data-${processes}`,
        args: ['--authorization', 'basic'],
        config: {
          auth: { tokens },
          server: { workers: processes },
          policies: { accessDecision: '/app/access', limits: { maxDurationMs: 500 } },
        },
      })
      if (processes > 1) await untilLogged(tidegate, ({ msg }) => msg === 'worker process serves')
    })
    afterAll(async () => {
      await tidegate.end('SIGTERM')
    })

    const as = (token: string, sent: Sent): Promise<Answered> => send(tidegate.url, { token, ...sent })

    test('an allowed document is evaluated, and another is refused as OPA does', async () => {
      expect(await as(TOKENS.ci, { path: '/v1/data/app/public' })).toMatchObject({ status: 200 })
      const refused = await as(TOKENS.ci, { path: '/v1/data/app/secret' })
      expect(refused.status).toBe(401)
      expect(objectOf(refused)).toEqual(REFUSED)
    })

    test('the body decides, also when it is compressed, and reaches the route unchanged', async () => {
      const sent = { method: 'POST', path: '/v1/data/app/secret' }
      const allowed = await as(TOKENS.ci, { ...sent, body: '{"input":{"user":"ana"}}' })
      expect(allowed).toMatchObject({ status: 200 })
      expect(objectOf(allowed)).toMatchObject({ result: 'secret' })
      expect(await as(TOKENS.ci, { ...sent, body: '{"input":{"user":"bob"}}' })).toMatchObject({
        status: 401,
      })
      const large = JSON.stringify({ input: { user: 'ana', more: 'x'.repeat(3_000_000) } })
      expect(await as(TOKENS.ci, { ...sent, body: large })).toMatchObject({ status: 200 })
    })

    test('a body that two readers could read differently is refused before the policy', async () => {
      const sent = { method: 'POST', path: '/v1/data/app/secret' }
      for (const body of [
        '{"input":{"user":"bob"},"input":{"user":"ana"}}',
        '{"input":{"user":"ana"},"Input":{"user":"bob"}}',
        '{"input":{"user":"ana"}} {"input":1}',
        '1,"caller":{"name":"ann"}',
        '{bad',
      ])
        expect(await as(TOKENS.ci, { ...sent, body })).toMatchObject({ status: 400 })
    })

    test('the policy only narrows what the roles allow', async () => {
      expect(await as(TOKENS.ann, { path: '/audit' })).toMatchObject({ status: 200 })
      expect(await as(TOKENS.ci, { path: '/audit' })).toMatchObject({ status: 403 })
      expect(await as(TOKENS.root, { path: '/configuration' })).toMatchObject({ status: 200 })
      expect(await as(TOKENS.ann, { path: '/configuration' })).toMatchObject({ status: 403 })
      expect(await as('wrong', { path: '/v1/data/app/public' })).toMatchObject({ status: 403 })
    })

    test("the service's own routes are refused with 403", async () => {
      const refused = await as(TOKENS.ann, { path: '/fleet' })
      expect(refused.status).toBe(403)
      expect(objectOf(refused)).toEqual(REFUSED)
    })

    test('a page is refused as a page', async () => {
      const headers = { accept: 'text/html' }
      expect(await as(TOKENS.ann, { path: '/ui/policies', headers })).toMatchObject({ status: 200 })
      for (const path of ['/ui/secret', '/']) {
        const refused = await as(TOKENS.ci, { path, headers })
        expect(refused.status).toBe(403)
      }
      const refused = await as(TOKENS.ann, { path: '/', headers })
      expect(refused.headers['content-type']).toContain('text/html')
      expect(refused.text).toContain('Request rejected by administrative policy')
    })

    test('batches and access evaluations are authorized like documents', async () => {
      const batch = { method: 'POST', path: '/v1/batch/data/app/public', body: '{"inputs":{"a":{}}}' }
      expect(await as(TOKENS.ci, batch)).toMatchObject({ status: 401 })
      const access = {
        method: 'POST',
        path: '/access/v1/evaluation',
        body: '{"subject":{"type":"user","id":"a"},"action":{"name":"b"},"resource":{"type":"c","id":"d"}}',
      }
      expect(await as(TOKENS.ci, access)).toMatchObject({ status: 200 })
      const seen = await as(TOKENS.ci, { ...batch, path: '/v1/batch/data/echo' })
      expect(inputIn(seen)).toMatchObject({ body: { inputs: { a: {} } } })
    })

    test('probes do not depend on the policy', async () => {
      for (const path of ['/health', '/livez', '/readyz', '/v1/opa/failOpen'])
        expect(await send(tidegate.url, { path })).toMatchObject({ status: 200 })
      expect(await as(TOKENS.ann, { path: '/metrics' })).toMatchObject({ status: 403 })
    })

    test('unknown paths and other methods are refused, too', async () => {
      expect(await as(TOKENS.ci, { path: '/nothing' })).toMatchObject({ status: 403 })
      expect(await as(TOKENS.ci, { method: 'OPTIONS', path: '/v1/data/app/secret' })).toMatchObject({
        status: 401,
      })
      expect(await as(TOKENS.ci, { method: 'HEAD', path: '/v1/data/app/secret' })).toMatchObject({
        status: 401,
      })
      expect(await as(TOKENS.root, { path: '/nothing' })).toMatchObject({ status: 404 })
      expect(await as(TOKENS.root, { method: 'OPTIONS', path: '/v1/data/app/x' })).toMatchObject({
        status: 405,
      })
    })

    test.each([
      { path: '/object?allowed=yes', status: 404, message: 'there is nothing at /object' },
      { path: '/object?allowed=no', status: 403, message: 'the reason' },
      { path: '/fails?by=0', status: 403, message: REFUSED.message },
      { path: '/fails?by=1', status: 403, message: REFUSED.message },
      { path: '/conflict', status: 403, message: REFUSED.message },
      { path: '/endless', status: 403, message: REFUSED.message },
    ])('$path gives $status', async ({ path, status, message }) => {
      const answer = await as(TOKENS.ci, { path })
      expect(answer.status).toBe(status)
      expect(objectOf(answer)).toMatchObject({ message })
    })

    test.each([
      { prefix: '/v1/data', body: '{"input":{}}' },
      { prefix: '/v1/batch/data', body: '{"inputs":{"a":{}}}' },
    ])(
      'a data path in the query is the path that the policy sees below $prefix',
      async ({ prefix, body }) => {
        const sent = { method: 'POST', body }
        const secret = `${prefix}/**?requestUri=/v1/data/app/secret`
        expect(await as(TOKENS.ci, { ...sent, path: secret })).toMatchObject({ status: 401 })
        for (const literal of ['**', '%2A%2A', '/**/']) {
          const seen = await as(TOKENS.ci, {
            ...sent,
            path: `${prefix}/${literal}?requestUri=/v1/data/echo/a`,
          })
          expect(inputIn(seen)).toMatchObject({ path: [...prefix.slice(1).split('/'), 'echo', 'a'] })
        }
      },
    )

    test('an escaped slash is part of its segment, and repeated slashes count once', async () => {
      const seen = await as(TOKENS.ci, { path: '/v1//data/echo/a%2Fb/c%252Fd/' })
      expect(inputIn(seen)).toMatchObject({ path: ['v1', 'data', 'echo', 'a/b', 'c%2Fd'] })
      expect(await as(TOKENS.ci, { path: '/v1/data/app%2Fpublic' })).toMatchObject({ status: 401 })
    })

    test('the policy sees who the caller is, and no header of a relay', async () => {
      const seen = await as(TOKENS.ann, {
        path: '/fleet/echo',
        headers: { 'tidegate-relayed-from': '1.2.3.4' },
      })
      const input = inputIn(seen)
      expect(input).toMatchObject({
        caller: { name: 'ann', roles: ['auditor'], groups: [] },
        identity: TOKENS.ann,
      })
      expect(Object.keys(input['headers'] as object).filter((name) => /relay|host/i.test(name))).toEqual([])
    })

    test('a forged caller in the body or the headers changes nothing', async () => {
      const seen = await as(TOKENS.ci, {
        ...{ method: 'POST', path: '/v1/data/echo', body: '{"caller":{"name":"ann"},"input":1}' },
        headers: { caller: 'ann', 'x-spinnaker-user': 'ann' },
      })
      expect(inputIn(seen)['caller']).toEqual({ name: 'ci', roles: ['orchestrator'], groups: [] })
    })

    test('evaluations are counted by outcome', async () => {
      const { text } = await as(TOKENS.root, { path: '/metrics' })
      for (const outcome of ['allow', 'deny', 'error'])
        expect(text).toMatch(
          new RegExp(`tidegate_evaluations_total\\{kind="authorization",outcome="${outcome}"\\} [1-9]`),
        )
    })
  },
)

/** The input of the policy, which the reason of a refusal shows. */
function inputIn(answer: Answered): Record<string, unknown> {
  return JSON.parse(String(objectOf(answer)['message'])) as Record<string, unknown>
}

test('without a rule, everything but probes is refused, and the cause is logged', async () => {
  const tidegate = await startTidegate({
    workspace,
    dataDir: 'data-undefined',
    directories: ['undefined'],
    config: { policies: { authorization: '/system/authz/allow' } },
  })
  expect(await send(tidegate.url, { path: '/v1/data/app/public' })).toMatchObject({ status: 401 })
  expect(await send(tidegate.url, { path: '/livez' })).toMatchObject({ status: 200 })
  const line = await untilLogged(tidegate, ({ cause }) => cause !== undefined)
  expect(line['cause']).toContain('the rule system/authz/allow of policies.authorization is undefined')
  await tidegate.end('SIGTERM')
})

test('an address for probes needs no authorization', async () => {
  const tidegate = await startTidegate({
    workspace,
    directories: POLICIES,
    dataDir: 'data-probes',
    config: {
      policies: { authorization: 'basic' },
      server: { addresses: [{ addr: `unix:${workspace.path}/health.sock`, serves: 'health' }] },
    },
  })
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    request({ socketPath: `${workspace.path}/health.sock`, path: '/metrics' }, ({ statusCode }) =>
      resolve(statusCode),
    )
      .once('error', reject)
      .end()
  })
  expect(status).toBe(200)
  expect(await send(tidegate.url, { path: '/metrics' })).toMatchObject({ status: 403 })
  await tidegate.end('SIGTERM')
})
