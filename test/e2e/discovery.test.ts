import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'

import { startBundleServer } from '../support/bundle-server.js'
import type { BundleServer } from '../support/bundle-server.js'
import { newerOpa } from '../support/compilers.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { packFiles } from '../support/make-bundle.js'
import { startOpa } from '../support/opa-server.js'
import { signedBundle } from '../support/sign-bundle.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const SECRET = 'the secret of the publisher'
const workspace = makeWorkspace()
afterAll(workspace.remove)
let server: BundleServer
let tidegate: TidegateProcess | undefined
beforeEach(async () => {
  server = await startBundleServer()
  for (const name of ['one', 'two'])
    server.publish(
      name,
      await packFiles({ 'p.rego': `package app\n\nimport rego.v1\n\nname := "${name}"\n` }),
    )
})
afterEach(async () => {
  await tidegate?.end('SIGTERM')
  tidegate = undefined
  await server.close()
})

/** Polls soon, and again after each change. */
const POLLING = { min_delay_seconds: 1, max_delay_seconds: 1, long_polling_timeout_seconds: 10 }

/** Starts with a configuration of OPA that has little but `discovery`. */
async function serve(dataDir: string, discovery: object = {}, more: object = {}): Promise<TidegateProcess> {
  tidegate = await startTidegate(settings(dataDir, discovery, more))
  return tidegate
}

function settings(dataDir: string, discovery: object, more: object): Parameters<typeof startTidegate>[0] {
  const boot = {
    services: { acme: { url: server.urlOf('').replace(/\/$/, '') } },
    discovery: {
      service: 'acme',
      resource: '/discovery',
      decision: 'config/opa',
      polling: POLLING,
      ...discovery,
    },
    ...more,
  }
  const opaConfig = join(workspace.path, `${dataDir}.yaml`)
  workspace.write({ [`${dataDir}.yaml`]: JSON.stringify(boot) })
  return { workspace, dataDir, directories: [], config: { policies: { opaConfig } } }
}

const bundlesOf = (name: string): object => ({
  bundles: { app: { service: 'acme', resource: `/${name}`, polling: POLLING } },
})

/** A discovery bundle whose Rego makes the document. */
const documentFiles = (document: object): Readonly<Record<string, string>> => ({
  'config.rego': `package config\n\nimport rego.v1\n\nopa := ${JSON.stringify(document)}\n`,
})

async function discover(document: object): Promise<void> {
  server.publish('discovery', await packFiles(documentFiles(document)))
}

async function nameAt(url: string): Promise<unknown> {
  return objectOf(await postJson(url, '/v1/data/app/name', { input: {} }))['result']
}

async function untilNamed(at: TidegateProcess, name: string): Promise<void> {
  await waitUntil(
    async () => ((await nameAt(at.url)) === name ? true : undefined),
    () => at.logText(),
  )
}

test('the discovered bundles serve, and others after the next discovery bundle', async () => {
  await discover({ ...bundlesOf('one'), labels: { region: 'eu' } })
  const at = await serve('changes')
  expect(await nameAt(at.url)).toBe('one')
  await discover(bundlesOf('two'))
  await untilNamed(at, 'two')
})

test('the discovery bundle is in the status, the sources, the metrics, and in the health when it fails', async () => {
  server.publish('discovery', await packFiles({ ...documentFiles({}), '.manifest': '{"revision":"d1"}' }))
  const at = await serve('shown')
  const read = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
    objectOf(await ask(at.url, { path }))
  const status = async (): Promise<unknown> => (await read('/v1/status'))['result']
  expect(await status()).toMatchObject({
    discovery: { name: 'discovery', active_revision: 'd1', type: 'snapshot' },
    plugins: { discovery: { state: 'OK' }, bundle: { state: 'OK' } },
  })
  expect((await read('/v1/config'))['result']).toMatchObject({
    discovery: { resource: server.urlOf('discovery'), polling: { max_delay_seconds: 1 } },
  })
  expect(await read('/policies/sources')).toMatchObject({
    sources: [],
    discovery: { name: 'discovery', revision: 'd1', isStale: false },
  })
  expect((await ask(at.url, { path: '/metrics' })).text).toContain(
    'tidegate_policy_source_stale{source="discovery"} 0',
  )
  server.respondBy((_, response) => response.writeHead(503).end())
  const refreshed = objectOf(await ask(at.url, { method: 'POST', path: '/policies/refresh' }))
  const says = expect.stringContaining('responded with 503') as unknown
  expect(refreshed).toMatchObject({ discovery: { revision: 'd1', problem: says } })
  expect(await status()).toMatchObject({
    discovery: { active_revision: 'd1', code: 'bundle_error', message: says },
    plugins: { discovery: { state: 'WARN' }, bundle: { state: 'OK' } },
  })
  const { instances } = await read('/fleet')
  expect(instances).toMatchObject([{ health: 'failing', problem: says }])
})

test('a refresh uses a new discovery bundle and what it names', async () => {
  const polling = { polling: { min_delay_seconds: 600, max_delay_seconds: 900 } }
  await discover(bundlesOf('one'))
  const at = await serve('refreshed', polling)
  await discover(bundlesOf('two'))
  await ask(at.url, { method: 'POST', path: '/policies/refresh' })
  expect(await nameAt(at.url)).toBe('two')
})

test.skipIf(newerOpa() === undefined)('OPA serves the same bundles with the same configuration', async () => {
  await discover(bundlesOf('one'))
  const at = await serve('next-to-opa')
  const opa = await startOpa(['--config-file', join(workspace.path, 'next-to-opa.yaml')], newerOpa())
  expect(await nameAt(opa.url)).toBe(await nameAt(at.url))
  await discover(bundlesOf('two'))
  await untilNamed(at, 'two')
  await waitUntil(
    async () => ((await nameAt(opa.url)) === 'two' ? true : undefined),
    () => 'OPA does not follow',
  )
  await opa.stop()
})

test('the document can be data, also all of it', async () => {
  server.publish('discovery', await packFiles({ 'data.json': JSON.stringify(bundlesOf('two')) }))
  const at = await serve('data', { decision: undefined })
  expect(await nameAt(at.url)).toBe('two')
})

test.each([
  { what: 'a bundle that does not exist', document: { bundles: { app: { service: 'nobody' } } } },
  { what: 'another address of the service', document: { services: { acme: { url: 'http://127.0.0.1:9' } } } },
  { what: 'another key', document: { keys: { publisher: { key: 'other', algorithm: 'HS256' } } } },
  { what: 'no object', document: [1] },
  { what: 'a bundle that cannot be loaded', document: bundlesOf('broken') },
])('with $what, the previous configuration stays, and a later one is used', async ({ what, document }) => {
  server.publish('broken', Buffer.from('no archive'))
  await discover(bundlesOf('one'))
  const at = await serve(
    `stays-${what.replaceAll(' ', '-')}`,
    {},
    {
      keys: { publisher: { key: SECRET, algorithm: 'HS256' } },
    },
  )
  await discover(document)
  await untilLogged(at, ({ msg }) => msg?.includes('a discovery bundle is not used') === true)
  expect(await nameAt(at.url)).toBe('one')
  await discover(bundlesOf('two'))
  await untilNamed(at, 'two')
})

test('with a key, only a signed bundle is used', async () => {
  const keys = { keys: { publisher: { key: SECRET, algorithm: 'HS256' } } }
  const signing = { signing: { keyid: 'publisher' } }
  server.publish('discovery', await signedBundle(documentFiles(bundlesOf('one')), SECRET))
  const at = await serve('signed', signing, keys)
  expect(await nameAt(at.url)).toBe('one')
  await discover(bundlesOf('two'))
  await untilLogged(at, ({ msg }) => msg?.includes('a discovery bundle is not used') === true)
  expect(await nameAt(at.url)).toBe('one')
})

test('members of the file take precedence, and those without an effect are named', async () => {
  await discover({ ...bundlesOf('one'), bundles: { app: { resource: '/two' } }, caching: {} })
  const at = await serve('precedence', {}, bundlesOf('one'))
  expect(await nameAt(at.url)).toBe('one')
  const line = await untilLogged(at, ({ members }) => members !== undefined)
  expect(line['members']).toEqual(['caching'])
})

test('a start without the server uses the last good bundle', async () => {
  await discover(bundlesOf('two'))
  const first = await serve('kept')
  await first.end('SIGTERM')
  server.respondBy((_, response) => void response.writeHead(503).end())
  const second = await serve('kept')
  expect(await nameAt(second.url)).toBe('two')
})

test('a start with an unusable first bundle fails and says why', async () => {
  await discover({ bundles: { app: { service: 'nobody' } } })
  await expect(startTidegate(settings('fails', {}, {}))).rejects.toMatchObject({
    details: [{ message: 'bundles.app: there is no service nobody' }],
  })
})
