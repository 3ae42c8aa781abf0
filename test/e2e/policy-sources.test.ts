import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { startBundleServer } from '../support/bundle-server.js'
import type { BundleServer } from '../support/bundle-server.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { packFiles, packMembers } from '../support/make-bundle.js'
import { startOpa } from '../support/opa-server.js'
import { signedBundle } from '../support/sign-bundle.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const SECRET = 'the secret of the publisher'
const workspace = makeWorkspace({ key: SECRET })
afterAll(workspace.remove)
const opa1 = newerOpa()
let server: BundleServer
let tidegate: TidegateProcess | undefined
let made = 0
beforeEach(async () => {
  server = await startBundleServer()
})
afterEach(async () => {
  await tidegate?.end('SIGTERM')
  tidegate = undefined
  await server.close()
})

type Files = Readonly<Record<string, string>>

function filesOf(version: string, roots: readonly string[] = ['static/a']): Files {
  return {
    '.manifest': JSON.stringify({ revision: version, roots }),
    'a.rego': `package static.a\nimport rego.v1\ndeny contains "version ${version}"\n`,
  }
}

const bundleOf = (version: string): Promise<Buffer> => packFiles(filesOf(version))

const SIGNING = { keys: [{ id: 'publisher', algorithm: 'HS256', secret: { file: `${workspace.path}/key` } }] }

function source(name: string, more: object = {}): object {
  return { name, type: 'http', url: server.urlOf(name), ...more }
}

async function serve(
  sources: readonly object[],
  { policies = {}, dataDir = `data-${made++}` }: { policies?: object; dataDir?: string } = {},
): Promise<TidegateProcess> {
  const settings = { workspace, directories: [], dataDir, config: { policies: { sources, ...policies } } }
  tidegate = await startTidegate(settings)
  return tidegate
}

async function reasons(at: TidegateProcess): Promise<unknown> {
  const answer = await postJson(at.url, '/v1/staticPolicy/eval', { input: { new: {} } })
  return objectOf(answer)['deny']
}

async function untilDenied(at: TidegateProcess, ...texts: readonly string[]): Promise<void> {
  await waitUntil(
    async () => (JSON.stringify(await reasons(at)) === JSON.stringify(texts) ? true : undefined),
    () => `not served: ${texts.join(', ')}: ${at.logText()}`,
  )
}

interface Shown {
  readonly revision: string
  readonly sources: readonly {
    readonly name: string
    readonly revision?: string
    readonly problem?: string
    readonly isStale: boolean
  }[]
}

function respondBy(respond: (response: ServerResponse) => void): () => Promise<void> {
  return () => {
    server.respondBy((_, response) => respond(response))
    return Promise.resolve()
  }
}

async function refresh(at: TidegateProcess): Promise<Shown> {
  return objectOf(await ask(at.url, { method: 'POST', path: '/policies/refresh' })) as unknown as Shown
}

async function healthOf(at: TidegateProcess): Promise<Readonly<Record<string, unknown>>> {
  const plugins = objectOf(await ask(at.url, { path: '/health?plugins' }))['plugins']
  return (plugins as Readonly<Record<string, Readonly<Record<string, unknown>>>>)['bundle'] ?? {}
}

async function trailKinds(at: TidegateProcess): Promise<readonly unknown[]> {
  const { records } = objectOf(await ask(at.url, { path: '/audit?source=policy' }))
  return (records as { kind: unknown }[]).map(({ kind }) => kind)
}

describe('a source of policies', () => {
  test('serves a new revision as soon as it is published, by a long poll', async () => {
    server.publish('main', await bundleOf('1'))
    const at = await serve([source('main')])
    expect(await reasons(at)).toEqual(['version 1'])
    server.publish('main', await bundleOf('2'))
    await untilDenied(at, 'version 2')
    expect(server.seen.some(({ headers }) => headers['prefer'] === 'modes=snapshot;wait=30')).toBe(true)
    const health = objectOf(await ask(at.url, { path: '/health?bundles' }))['bundles']
    expect(health).toMatchObject({ revision: '2', sources: [{ name: 'main', revision: '2' }] })
    const status = objectOf(await ask(at.url, { path: '/v1/status' }))['result']
    expect(status).toMatchObject({
      bundles: { main: { active_revision: '2', type: 'snapshot' } },
      plugins: { bundle: { state: 'OK' } },
    })
    const shown = objectOf(await ask(at.url, { path: '/v1/config' }))['result']
    expect(shown).toMatchObject({
      bundles: { main: { resource: server.urlOf('main'), polling: { long_polling_timeout_seconds: 30 } } },
      default_decision: '/system/main',
    })
    const metrics = (await ask(at.url, { path: '/metrics' })).text
    expect(metrics).toContain(`node="${process.versions.node}",opa="1.20"} 1`)
    expect(metrics).toContain('tidegate_policy_info{bundle="main",revision="2"} 1')
    expect(metrics).toContain('tidegate_policy_source_downloads_total{source="main"} 2')
    expect(metrics).toContain('tidegate_policy_source_stale{source="main"} 0')
  })

  test('is polled with the ETag, and immediately by POST /policies/refresh', async () => {
    server.publish('main', await bundleOf('1'))
    const at = await serve([source('main', { longPollSeconds: 0 })])
    const before = await refresh(at)
    expect(before.sources).toMatchObject([{ name: 'main', revision: '1', isStale: false }])
    expect(server.seen.at(-1)?.headers).toMatchObject({ prefer: 'modes=snapshot', 'if-none-match': /^"/ })
    server.publish('main', await bundleOf('2'))
    expect((await refresh(at)).revision).toBe('2')
    expect(await reasons(at)).toEqual(['version 2'])
  })

  test('that is away at a start is served from the data directory', async () => {
    server.publish('main', await bundleOf('1'))
    const first = await serve([source('main')], { dataDir: 'kept' })
    server.publish('main', await bundleOf('2'))
    await untilDenied(first, 'version 2')
    await first.end('SIGTERM')
    server.respondBy((_, response) => response.writeHead(503).end())
    const at = await serve([source('main')], { dataDir: 'kept' })
    expect(await reasons(at)).toEqual(['version 2'])
    const { sources } = await refresh(at)
    expect(sources[0]).toMatchObject({ revision: '2' })
    expect(sources[0]?.problem).toContain('responded with 503')
    expect(await healthOf(at)).toMatchObject({ state: 'WARN' })
    server.respondBy(undefined)
    server.publish('main', await bundleOf('3'))
    expect((await refresh(at)).revision).toBe('3')
    expect(await healthOf(at)).toEqual({ state: 'OK' })
  })

  test('leaves the signer and the caller of each activation in the trail and the history', async () => {
    server.publish('main', await signedBundle(filesOf('1'), SECRET))
    const at = await serve([source('main', { longPollSeconds: 0 })], { policies: { bundleSigning: SIGNING } })
    await refresh(at)
    server.publish('main', await signedBundle(filesOf('2'), SECRET))
    await ask(at.url, { method: 'POST', path: '/policies/refresh', headers: { 'x-spinnaker-user': 'ann' } })
    const expected = { source: 'main', signer: 'publisher' }
    const { revisions } = objectOf(await ask(at.url, { path: '/policies/revisions' }))
    expect(revisions).toMatchObject([
      { revision: '2', isServing: true, activations: [{ ...expected, by: 'claimed:ann' }] },
      { revision: '1', activations: [{ ...expected, by: 'source main' }] },
    ])
    const { records } = objectOf(await ask(at.url, { path: '/audit?source=policy' }))
    const [newest] = records as { readonly seq: number }[]
    expect(objectOf(await ask(at.url, { path: `/audit/${newest?.seq}` }))).toMatchObject({
      ...{ kind: 'policy.activated', user: 'claimed:ann' },
      body: { ...expected, revision: '2', previous: '1' },
    })
  })

  test('that goes back to an earlier bundle is followed, and this is logged and in the trail', async () => {
    server.publish('main', await bundleOf('1'))
    const at = await serve([source('main')])
    server.publish('main', await bundleOf('2'))
    await untilDenied(at, 'version 2')
    server.publish('main', await bundleOf('1'))
    await untilDenied(at, 'version 1')
    const line = await untilLogged(at, ({ msg }) => msg?.includes('served before') === true)
    expect(line).toMatchObject({ level: 'warn', source: 'main', revision: '1' })
    const kinds = await waitUntil(
      async () => {
        const found = await trailKinds(at)
        return found.length === 3 ? found : undefined
      },
      () => 'the activations are not in the trail',
    )
    expect(kinds).toEqual(['policy.replayed', 'policy.activated', 'policy.activated'])
  })

  const bomb = gzipSync(Buffer.alloc(600 * 1024 * 1024))
  test.each([
    ['an error of the server', 500, 'responded with 500'],
    ['a missing bundle', 404, 'responded with 404'],
    ['refused credentials', 401, 'check the credentials'],
    ['an empty answer', Buffer.alloc(0), 'empty bundle'],
    [
      'half an archive',
      bundleOf('9').then((bytes) => bytes.subarray(0, bytes.length >> 1)),
      'read bundle main',
    ],
    [
      'a name that leads out',
      packMembers([{ name: '../a.rego', content: 'package a' }]),
      'leads out of the bundle',
    ],
    ['a decompression bomb', bomb, 'unpacks to over'],
    ['a missing signature', bundleOf('9'), 'is not signed'],
    ['a wrong signature', signedBundle(filesOf('9'), 'another secret'), 'does not verify'],
    [
      'a changed file',
      signedBundle(filesOf('9'), SECRET, { 'a.rego': 'package static.a' }),
      'a.rego was changed',
    ],
    ["another bundle's roots", signedBundle(filesOf('9', ['static/b']), SECRET), 'roots'],
    [
      'Rego that does not compile',
      signedBundle({ ...filesOf('9'), 'b.rego': 'package static.a.b\nx := y' }, SECRET),
      '"file":"main/b.rego"',
    ],
  ] as const)('with %s changes nothing that serves', async (_, bad, says) => {
    const good = await signedBundle(filesOf('1'), SECRET)
    server.publish('main', good)
    const at = await serve([source('main', { longPollSeconds: 0 })], { policies: { bundleSigning: SIGNING } })
    if (typeof bad === 'number') server.respondBy((_request, response) => response.writeHead(bad).end())
    else server.publish('main', await bad)
    const { revision, sources } = await refresh(at)
    expect(revision).toBe('1')
    expect(JSON.stringify(sources[0])).toContain(says)
    expect(JSON.stringify(sources[0])).not.toContain(workspace.path)
    expect(await reasons(at)).toEqual(['version 1'])
    expect(await healthOf(at)).toMatchObject({ state: 'WARN' })
    server.respondBy(undefined)
    server.publish('main', await signedBundle(filesOf('2'), SECRET))
    expect((await refresh(at)).sources).toEqual([expect.objectContaining({ revision: '2', isStale: false })])
    expect(await reasons(at)).toEqual(['version 2'])
  })

  test.each([
    ['refuses connections', (): Promise<void> => server.close(), 'ECONNREFUSED'],
    [
      'closes connections without an answer',
      respondBy(({ socket }) => socket?.destroy()),
      'other side closed',
    ],
    ['never answers', respondBy(() => undefined), 'within 1000 ms'],
    [
      'stops in the middle of a bundle',
      respondBy((response) => void response.write('half')),
      'within 1000 ms',
    ],
  ])('of a server that %s keeps serving the last bundle', async (_, fail, says) => {
    server.publish('main', await bundleOf('1'))
    const at = await serve([source('main', { longPollSeconds: 0, timeoutSeconds: 1 })])
    await refresh(at)
    await fail()
    const problem = expect.stringContaining(says) as string
    expect(await refresh(at)).toMatchObject({ revision: '1', sources: [{ problem }] })
    expect(await reasons(at)).toEqual(['version 1'])
  })

  test('that overlaps another is refused, and a package may move from one to the other', async () => {
    const b = `package static.b\nimport rego.v1\ndeny contains "b"\n`
    const empty = { '.manifest': JSON.stringify({ revision: '0', roots: ['none'] }), 'none/data.json': '{}' }
    server.publish('one', await packFiles(filesOf('1')))
    server.publish(
      'two',
      await packFiles({ '.manifest': '{"revision":"1","roots":["static/b"]}', 'b.rego': b }),
    )
    const at = await serve([source('one', { longPollSeconds: 0 }), source('two', { longPollSeconds: 0 })])
    expect(await reasons(at)).toEqual(['version 1', 'b'])
    server.publish('one', await packFiles({ ...filesOf('2', ['static']), 'b.rego': b }))
    const { sources } = await refresh(at)
    expect(sources[0]?.problem).toContain("one owns 'static' and two owns 'static/b'")
    expect(sources[1]?.problem).toBeUndefined()
    expect(await reasons(at)).toEqual(['version 1', 'b'])
    server.publish('two', await packFiles(empty))
    await refresh(at)
    await refresh(at)
    expect(await reasons(at)).toEqual(['version 2', 'b'])
  })

  test('makes the service unready when it is stale, if so configured', async () => {
    server.publish('main', await bundleOf('1'))
    const stale = { staleAfterSeconds: 1, maxDelaySeconds: 1, minDelaySeconds: 1, staleIsNotReady: true }
    const at = await serve([source('main', stale)])
    expect((await ask(at.url, { path: '/readyz' })).status).toBe(200)
    server.respondBy((_, response) => response.writeHead(500).end())
    await waitUntil(
      async () => ((await ask(at.url, { path: '/readyz' })).status === 503 ? true : undefined),
      () => 'it is still ready',
    )
    expect(await healthOf(at)).toMatchObject({ state: 'NOT_READY', message: /stale: main/ })
    expect(await reasons(at)).toEqual(['version 1'])
  })

  test('may redirect nowhere: the message names the address', async () => {
    server.publish('main', await bundleOf('1'))
    const at = await serve([source('main', { longPollSeconds: 0 })])
    const location = `${server.urlOf('other')}?signature=hidden`
    server.respondBy((_, response) => response.writeHead(302, { location }).end())
    const { sources } = await refresh(at)
    expect(sources[0]?.problem).toContain('redirects are not followed')
    expect(sources[0]?.problem).not.toContain('hidden')
    expect(server.seen.some(({ url }) => url.startsWith('/other'))).toBe(false)
  })

  test.skipIf(opa1 === undefined)('of a configuration file of OPA serves what OPA 1.x serves', async () => {
    const rego = 'package authz\nimport rego.v1\ndefault allow := false\nallow if input.user == data.owner\n'
    const manifest = JSON.stringify({ revision: '7', roots: ['authz', 'owner'] })
    const files = { '.manifest': manifest, 'authz.rego': rego, 'data.json': '{"owner":"ann"}' }
    server.publish('bundles/authz', await signedBundle(files, SECRET))
    const config = `
services: {here: {url: "${server.urlOf('')}", credentials: {bearer: {token: "\${BUNDLE_TOKEN}"}}}}
bundles: {authz: {service: here, signing: {keyid: publisher}}}
keys: {publisher: {key: "${SECRET}", algorithm: HS256}}
default_decision: /authz/allow
labels: {region: west}
`
    workspace.write({ 'opa.yaml': config })
    const file = `${workspace.path}/opa.yaml`
    process.env['BUNDLE_TOKEN'] = 'token'
    const opa = await startOpa(['--config-file', file], opa1)
    const at = await serve([], { policies: { opaConfig: file } })
    try {
      for (const user of ['ann', 'bob']) {
        for (const path of ['/', '/v1/data/authz/allow', '/v1/data/owner']) {
          const body = path === '/' ? { user } : { input: { user } }
          const [ours, theirs] = await Promise.all([at.url, opa.url].map((url) => postJson(url, path, body)))
          expect(ours?.status).toBe(theirs?.status)
          // OPA gives ids only where it logs decisions.
          expect(ours?.text.trim().replace(/"decision_id":"[^"]*",?/, '')).toEqual(theirs?.text.trim())
        }
      }
    } finally {
      await opa.stop()
    }
    expect(new Set(server.seen.map(({ headers }) => headers['authorization']))).toEqual(
      new Set(['Bearer token']),
    )
  })
})
