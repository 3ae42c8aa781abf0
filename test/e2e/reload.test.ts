import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { startBundleServer } from '../support/bundle-server.js'
import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { packFiles } from '../support/make-bundle.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

type Settings = Readonly<Record<string, unknown>>

const ADMIN = { name: 'root', roles: ['admin'], sha256: sha256('root-token') }
const CI = { name: 'ci', roles: ['orchestrator'], sha256: sha256('ci-token') }
const policy = (value: number): string => `package app\n\nimport rego.v1\n\nx := ${value}\n`
const LOGS = JSON.stringify({ lifetimeMinutes: 30, logs: { source: 'files', query: 'x' } })

let workspace: Workspace
let tidegate: TidegateProcess

beforeEach(async () => {
  workspace = makeWorkspace({ 'policies/app.rego': policy(1), 'others/app.rego': policy(2) })
  tidegate = await startTidegate({ workspace, config: { auth: { tokens: [ADMIN] } } })
})
afterEach(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const call = (method: string, path: string, token = 'root-token', body?: unknown): Promise<Answered> =>
  ask(tidegate.url, {
    ...{ method, path, body: body === undefined ? undefined : JSON.stringify(body) },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

/** Writes another configuration and reloads it. */
async function reload(changes: Settings, policies: Settings = {}): Promise<Answered> {
  const config = {
    dataDir: join(workspace.path, 'data'),
    auth: { tokens: [ADMIN] },
    ...changes,
    server: { addr: '127.0.0.1:0', workers: 1, ...(changes['server'] as Settings | undefined) },
    policies: { directories: [join(workspace.path, 'policies')], ...policies },
  }
  workspace.write({ 'tidegate.json': JSON.stringify(config) })
  return await call('POST', '/reload')
}

async function valueOf(token = 'root-token'): Promise<unknown> {
  const answer = await call('POST', '/v1/data/app/x', token, { input: {} })
  return answer.status === 200 ? objectOf(answer)['result'] : answer.status
}

async function recordsOf(kind: string): Promise<readonly Settings[]> {
  const answer = await call('GET', `/audit?kind=${kind}`)
  return objectOf(answer)['records'] as readonly Settings[]
}

test('tokens come and go without a restart, and the trail shows the keys and the caller', async () => {
  expect(await valueOf('ci-token')).toBe(403)
  const answer = await reload({ auth: { tokens: [ADMIN, CI] } })
  expect(objectOf(answer)).toMatchObject({ changed: ['auth.tokens'] })
  expect(await valueOf('ci-token')).toBe(1)
  expect(await recordsOf('configuration.reloaded')).toMatchObject([{ seq: 1, user: 'root' }])
  expect((await call('GET', '/audit/1')).text).toContain('auth.tokens')
  expect(tidegate.logText()).not.toContain(CI.sha256)
  await reload({})
  expect(await valueOf('ci-token')).toBe(403)
})

test('a reload with one wrong key changes nothing and shows every problem', async () => {
  const answer = await reload({
    auth: { tokens: [ADMIN, CI] },
    gates: { definitions: [{ id: 7, name: 'release' }], maxAgeDay: 1 },
  })
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('gates.maxAgeDay: unknown key')
  expect(await valueOf('ci-token')).toBe(403)
  expect((await call('GET', '/approvalGates/7')).status).toBe(404)
  expect(await recordsOf('configuration.reloaded')).toEqual([])
  expect(await valueOf()).toBe(1)
})

test('keys that need a restart are refused by name, and nothing else is applied', async () => {
  const answer = await reload({
    auth: { tokens: [ADMIN, CI] },
    server: { drainSeconds: 3 },
    dataDir: 'other',
  })
  expect(answer.status).toBe(400)
  expect(objectOf(answer)).toMatchObject({
    code: 'restart_required',
    message: 'not reloaded: server.drainSeconds, dataDir need a restart',
  })
  expect(objectOf(await reload({ dataDir: 'other' }))).toMatchObject({
    message: 'not reloaded: dataDir needs a restart',
  })
  expect(await valueOf('ci-token')).toBe(403)
})

test('only admins may reload', async () => {
  await reload({ auth: { tokens: [ADMIN, CI] } })
  expect((await call('POST', '/reload', 'ci-token')).status).toBe(403)
  expect((await call('POST', '/reload', 'unknown')).status).toBe(401)
})

test('gates are declared, changed and removed', async () => {
  await reload({ gates: { definitions: [{ id: 7, name: 'release' }] } })
  expect(objectOf(await call('GET', '/approvalGates/7'))).toMatchObject({ name: 'release' })
  await reload({
    gates: {
      definitions: [
        { id: 7, name: 'launch' },
        { id: 8, name: 'other' },
      ],
    },
  })
  expect(objectOf(await call('GET', '/approvalGates/7'))).toMatchObject({ name: 'launch' })
  await reload({})
  expect((await call('POST', '/approvalGates/8/trigger', 'root-token', {})).status).not.toBe(200)
  expect(await recordsOf('gate.removed')).toHaveLength(2)
})

test('other directories serve, and a directory that does not compile changes nothing', async () => {
  const others = [join(workspace.path, 'others')]
  workspace.write({ 'broken/app.rego': 'package app\n\nx := y\n' })
  const broken = await reload(
    { auth: { tokens: [ADMIN, CI] } },
    { directories: [join(workspace.path, 'broken')] },
  )
  expect(broken.status).toBe(400)
  expect([await valueOf(), await valueOf('ci-token')]).toEqual([1, 403])
  expect(await recordsOf('configuration.reloaded')).toEqual([])
  expect((await reload({}, { directories: others })).status).toBe(200)
  expect(await valueOf()).toBe(2)
})

test('a source of policies is added, moved to another server and removed', async () => {
  const server = await startBundleServer()
  const publish = async (name: string, value: number): Promise<void> =>
    server.publish(name, await packFiles({ 'app.rego': policy(value), '.manifest': '{"revision": "r"}' }))
  await publish('one', 3)
  await publish('two', 4)
  const source = (name: string): Settings => ({
    directories: [],
    sources: [{ name: 'main', type: 'http', url: server.urlOf(name), longPollSeconds: 0 }],
  })
  expect((await reload({}, source('one'))).status).toBe(200)
  expect(await valueOf()).toBe(3)
  expect((await reload({}, source('two'))).status).toBe(200)
  expect(await valueOf()).toBe(4)
  await publish('two', 5)
  await call('POST', '/policies/refresh')
  expect(await valueOf()).toBe(5)
  expect((await reload({})).status).toBe(200)
  expect(await valueOf()).toBe(1)
  expect(objectOf(await call('GET', '/policies/sources'))['sources']).toEqual([])
  await server.close()
})

test('a directory of analyses is used if all its files are complete', async () => {
  workspace.write({ 'analyses/shop.json': LOGS, 'analyses/half.json': LOGS.slice(0, 20) })
  const analysis = { definitions: join(workspace.path, 'analyses') }
  const refused = await reload({ analysis, auth: { tokens: [ADMIN, CI] } })
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('half.json')])
  expect(await valueOf('ci-token')).toBe(403)
  workspace.write({ 'analyses/half.json': LOGS })
  expect((await reload({ analysis })).status).toBe(200)
})

test('the health of the service has the sources of the configuration in effect', async () => {
  const health = async (): Promise<string> => (await call('GET', '/health?plugins')).text
  const server = await startBundleServer()
  server.publish('one', await packFiles({ 'app.rego': policy(3), '.manifest': '{"revision": "r"}' }))
  const source = { name: 'main', type: 'http', url: server.urlOf('one'), longPollSeconds: 0 }
  const delays = { minDelaySeconds: 1, maxDelaySeconds: 1, staleAfterSeconds: 1 }
  await reload({}, { directories: [], sources: [{ ...source, ...delays }] })
  expect(await valueOf()).toBe(3)
  await server.close()
  await waitUntil(
    async () => ((await health()).includes('stale: main') ? true : undefined),
    () => 'the source does not become stale',
  )
  expect((await reload({})).status).toBe(200)
  expect(await health()).not.toContain('stale')
})

test('a caller without a name has no sessions, where the orchestrator needs no token', async () => {
  await reload({ auth: { tokens: [ADMIN], openToOrchestrator: true } })
  const anonymous = (method: string, path: string): Promise<Answered> => ask(tidegate.url, { method, path })
  for (const answer of [await anonymous('GET', '/sessions'), await anonymous('DELETE', '/sessions/any')])
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('name_required')])
  expect((await call('GET', '/sessions')).status).toBe(200)
})

test('levels of packages apply to the next decision', async () => {
  workspace.write({ 'policies/static.rego': 'package static.no\n\nimport rego.v1\n\ndeny contains "no"\n' })
  await call('POST', '/policies/refresh')
  const evaluate = async (): Promise<number> =>
    (await call('POST', '/v1/staticPolicy/eval', 'root-token', { input: '{}' })).status
  expect(await evaluate()).toBe(401)
  await reload({}, { levels: [{ package: 'static.no', level: 'warn' }] })
  expect(await evaluate()).toBe(200)
})

test('two reloads at the same time are applied one after the other, and no request is refused', async () => {
  const definitions = (count: number): Settings => ({
    gates: { definitions: Array.from({ length: count }, (_, id) => ({ id: id + 1, name: `gate ${id}` })) },
  })
  let isOver = false
  const statuses = new Set<unknown>()
  const decide = async (): Promise<void> => {
    while (!isOver) statuses.add(await valueOf())
  }
  const deciding = [decide(), decide(), decide()]
  const both = await Promise.all([reload(definitions(20)), call('POST', '/reload')])
  isOver = true
  await Promise.all(deciding)
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(await recordsOf('configuration.reloaded')).toHaveLength(2)
  expect(await recordsOf('gate.declared')).toHaveLength(20)
  expect([...statuses]).toEqual([1])
})

test('changed secrets and members of the OPA configuration that need a restart are named until then', async () => {
  const own = makeWorkspace({
    'policies/app.rego': policy(1),
    key: 'first',
    'opa.yaml': 'labels: {region: eu}',
  })
  const receiver = {
    endpoint: 'http://127.0.0.1:9',
    credentials: { type: 'bearer', token: { file: join(own.path, 'key') } },
  }
  const service = await startTidegate({
    workspace: own,
    config: { telemetry: receiver, policies: { opaConfig: join(own.path, 'opa.yaml') } },
  })
  const send = async () => objectOf(await ask(service.url, { method: 'POST', path: '/reload' }))
  expect(await send()).toMatchObject({ changed: [], needsRestart: [] })
  own.write({
    key: 'second',
    'opa.yaml': JSON.stringify({ services: { s: { url: 'http://127.0.0.1:9' } }, status: { service: 's' } }),
  })
  const needsRestart = [
    'policies.opaConfig: labels',
    'policies.opaConfig: status',
    'telemetry.credentials.token',
  ]
  expect(await send()).toMatchObject({ needsRestart })
  expect(await send()).toMatchObject({ changed: [], needsRestart })
  own.write({ key: 'first', 'opa.yaml': 'labels: {region: eu}' })
  expect(await send()).toMatchObject({ needsRestart: [] })
  await service.end('SIGTERM')
  own.remove()
})
