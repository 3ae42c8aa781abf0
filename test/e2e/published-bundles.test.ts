import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, afterEach, describe, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = { type: 'spki', format: 'pem' } as const
const PUBLIC_KEY = publicKey.export(PEM).toString()
const workspace = makeWorkspace({
  'public.pem': PUBLIC_KEY,
  'private.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'other.pem': generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export(PEM).toString(),
  'claims.json': '{"keyid": "release", "scope": "write"}',
})
const { path: folder } = workspace
afterAll(workspace.remove)
const running: TidegateProcess[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.end('SIGTERM')
})
const opa1 = newerOpa()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
let made = 0

type Section = Readonly<Record<string, unknown>>

async function serve(
  policies: Section,
  more: Readonly<Record<string, Section>> = {},
): Promise<TidegateProcess> {
  const dataDir = `data-${made++}`
  const settings = { workspace, directories: [], dataDir, config: { policies, ...more } }
  const service = await startTidegate(settings)
  running.push(service)
  return service
}

const SIGNING = { algorithm: 'RS256', privateKeyFile: join(folder, 'private.pem'), keyId: 'release' }
const VERIFYING = {
  keys: [{ id: 'release', algorithm: 'RS256', publicKeyFile: join(folder, 'public.pem') }],
}

/** Writes Rego of both versions with data, and returns the directory. */
function policiesOf(name: string, version: string): string {
  workspace.write({
    [`${name}/static/a.rego`]: `package static.a\nimport rego.v1\ndeny contains "version ${version}"\n`,
    [`${name}/old.rego`]: 'package old\nallow { input.x == data.limits.max }\n',
    [`${name}/static/a_test.rego`]: 'package static.a_test\nimport rego.v1\ntest_a if true\n',
    [`${name}/limits/data.json`]: '{"max": 1.50}',
  })
  return join(folder, name)
}

async function publisher(name: string): Promise<TidegateProcess> {
  const directories = [policiesOf(name, '1')]
  return await serve({ directories, publish: { name: 'main', signing: SIGNING } })
}

async function publishAgain(name: string, version: string, at: TidegateProcess): Promise<void> {
  policiesOf(name, version)
  await ask(at.url, { method: 'POST', path: '/policies/refresh' })
}

const bundleOf = (at: TidegateProcess, headers: Readonly<Record<string, string>> = {}) =>
  ask(at.url, { path: '/bundles/main', headers })

async function untilDenied(url: string, text: string): Promise<void> {
  await waitUntil(
    async () => {
      const { result } = objectOf(await postJson(url, '/v1/data/static/a/deny', {}))
      return JSON.stringify(result) === JSON.stringify([text]) ? true : undefined
    },
    () => `no denial "${text}" at ${url}`,
  )
}

describe('the policies that serve', () => {
  test('are a bundle with an ETag, which answers 304 and ends a long poll with the next revision', async () => {
    const at = await publisher('etag')
    const first = await bundleOf(at)
    expect(first.status).toBe(200)
    expect(first.headers['content-type']).toBe('application/vnd.openpolicyagent.bundles')
    const etag = first.headers.etag ?? ''
    expect(etag).toMatch(/^"[\da-f]{64}"$/)
    const known = { 'if-none-match': etag }
    for (const tags of [etag, `W/${etag}`, `"other", W/${etag}`, `${etag} , "other"`, '*']) {
      const answer = await bundleOf(at, { 'if-none-match': tags })
      expect([tags, answer.status, answer.headers.etag, answer.text]).toEqual([tags, 304, etag, ''])
    }
    for (const tags of ['"other"', 'W/"other", "more"', etag.replaceAll('"', ''), `x${etag}`, ''])
      expect([tags, (await bundleOf(at, { 'if-none-match': tags })).status]).toEqual([tags, 200])
    const waiting = bundleOf(at, { ...known, prefer: 'modes=snapshot,delta;wait=60' })
    await publishAgain('etag', '2', at)
    const next = await waiting
    expect(next.status).toBe(200)
    expect(next.headers.etag).not.toBe(etag)
  })

  test('are not published by default, and by another name never', async () => {
    const closed = await serve({ directories: [policiesOf('closed', '1')] })
    expect((await bundleOf(closed)).status).toBe(404)
    const open = await publisher('named')
    expect((await ask(open.url, { path: '/bundles/other' })).status).toBe(404)
  })

  test('are open to tokens with the role instance only', async () => {
    const tokens = [
      { name: 'sidecar', roles: ['instance'], token: 'one' },
      { name: 'eve', roles: ['auditor'], token: 'two' },
    ].map(({ token, ...rest }) => ({ ...rest, sha256: sha256(token) }))
    const policies = { directories: [policiesOf('guarded', '1')], publish: { name: 'main' } }
    const at = await serve(policies, { auth: { tokens } })
    const statuses = ['one', 'two', 'three'].map(async (token) => {
      return (await bundleOf(at, { authorization: `Bearer ${token}` })).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 403, 401])
  })

  test('feed another Tidegate, which verifies the signature and follows each revision', async () => {
    const at = await publisher('feeding')
    const sources = [{ name: 'main', type: 'http', url: `${at.url}/bundles/main` }]
    const fed = await serve({ sources, bundleSigning: VERIFYING })
    await untilDenied(fed.url, 'version 1')
    const old = await postJson(fed.url, '/v1/data/old/allow', { input: { x: 1.5 } })
    expect(objectOf(old)['result']).toBe(true)
    await publishAgain('feeding', '2', at)
    await untilDenied(fed.url, 'version 2')
    const [published, served] = await Promise.all(
      [at, fed].map(async ({ url }) => objectOf(await ask(url, { path: '/policies/sources' }))['revision']),
    )
    expect(served).toBe(published)
  })

  test.skipIf(opa1 === undefined)('feed OPA, which verifies the signature and polls long', async () => {
    const at = await publisher('for-opa')
    const config = {
      services: { tidegate: { url: at.url } },
      bundles: {
        main: {
          service: 'tidegate',
          resource: 'bundles/main',
          polling: { long_polling_timeout_seconds: 30 },
          signing: { keyid: 'release' },
        },
      },
      keys: { release: { algorithm: 'RS256', key: PUBLIC_KEY } },
    }
    writeFileSync(join(folder, 'opa.json'), JSON.stringify(config))
    const opa = await startOpa(['--config-file', join(folder, 'opa.json')], opa1)
    try {
      await untilDenied(opa.url, 'version 1')
      const old = await postJson(opa.url, '/v1/data/old/allow', { input: { x: 1.5 } })
      expect(objectOf(old)['result']).toBe(true)
      await publishAgain('for-opa', '2', at)
      await untilDenied(opa.url, 'version 2')
    } finally {
      await opa.stop()
    }
  })

  test('are the only compiled bundle itself, signed again; a compiled bundle next to others is refused', async () => {
    const built = join(folder, 'built.tar.gz')
    const build = ['build', policiesOf('compiled', '1'), '-o', built, '--revision', 'r1']
    expect(await runTidegate(build)).toMatchObject({ exitCode: 0, stderr: '' })
    const publish = { name: 'main', signing: SIGNING }
    const at = await serve({ bundles: [built], publish })
    const sources = [{ name: 'main', type: 'http', url: `${at.url}/bundles/main` }]
    const fed = await serve({ sources, bundleSigning: VERIFYING })
    await untilDenied(fed.url, 'version 1')
    workspace.write({ 'extra/b.rego': 'package b\nallow := true\n' })
    const mixed = await serve({ bundles: [built], directories: [join(folder, 'extra')], publish })
    const refused = await bundleOf(mixed)
    expect(refused.status).toBe(503)
    expect(objectOf(refused)['code']).toBe('not_publishable')
  })

  test('hold up no stop while clients wait for the next revision', async () => {
    const at = await publisher('stopping')
    const etag = (await bundleOf(at)).headers.etag ?? ''
    const waiting = bundleOf(at, { 'if-none-match': etag, prefer: 'wait=300' })
    await running.pop()?.end('SIGTERM')
    expect((await waiting).status).toBe(304)
  })
})

describe('tidegate build --signing-key', () => {
  const build = (...more: readonly string[]) =>
    runTidegate(['build', policiesOf('signing', '1'), '-o', join(folder, 'signed.tar.gz'), ...more])

  test.skipIf(opa1 === undefined)('writes a signature that OPA verifies', async () => {
    const key = ['--signing-key', join(folder, 'private.pem')]
    const claims = ['--claims-file', join(folder, 'claims.json')]
    expect(await build(...key, ...claims)).toMatchObject({ exitCode: 0, stderr: '' })
    // Loads and verifies as `opa run`, which needs an engine for compiled bundles.
    const verify = (publicKeyFile: string, scope = 'write'): string => {
      const key = ['--verification-key', join(folder, publicKeyFile), '--verification-key-id', 'release']
      const bundle = ['--bundle', join(folder, 'signed.tar.gz'), '--output', join(folder, 'again.tar.gz')]
      const args = ['build', ...bundle, ...key, '--scope', scope]
      const { stdout, stderr } = spawnSync(opa1 ?? '', args, { encoding: 'utf8' })
      return stdout + stderr
    }
    expect(verify('public.pem')).toBe('')
    expect(verify('other.pem')).toContain('verification error')
    expect(verify('public.pem', 'read')).toContain('scope mismatch')
  })

  test('refuses a key of another algorithm, a missing file, and claims without a key', async () => {
    const key = ['--signing-key', join(folder, 'private.pem')]
    const results = [
      await build(...key, '--signing-alg', 'ES256'),
      await build('--signing-key', join(folder, 'absent.pem')),
      await build('--claims-file', join(folder, 'claims.json')),
      await build(...key, '--claims-file', join(folder, 'private.pem')),
    ]
    expect(results.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2, 2])
    expect(results.map(({ stderr }) => stderr).join()).toMatch(
      /private\.pem: the signing key \(type rsa\) does not fit ES256: use RS256.*absent\.pem.*needs --signing-key.*keyid and scope/s,
    )
  })

  test('names what is wrong with a key, and what to use', async () => {
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = {
      empty: '',
      words: 'secret',
      public: read('public.pem'),
      cut: read('private.pem').slice(0, 200),
      locked: String(
        pair.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' }),
      ),
    }
    const expected = {
      empty: 'the signing key is empty',
      words:
        'the signing key is not PEM, which begins with -----BEGIN PRIVATE KEY-----. For a secret, use HS256 instead of RS256',
      public: 'the signing key is a public key. Use the private key that belongs to it',
      cut: 'the file is incomplete or damaged',
      locked: 'the signing key is encrypted. Decrypt it, such as with openssl pkey -in KEY -out PLAIN',
    }
    for (const [name, text] of Object.entries(keys)) {
      writeFileSync(join(folder, `${name}.key`), text)
      const { exitCode, stderr } = await build('--signing-key', join(folder, `${name}.key`))
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(expected[name as keyof typeof expected]),
      ])
      expect(stderr).toContain(`--signing-key ${join(folder, `${name}.key`)}: `)
    }
    for (const name of ['empty.key', 'private.pem'])
      expect(await build('--signing-key', join(folder, name), '--signing-alg', 'HS256')).toMatchObject({
        exitCode: 2,
      })
  })
})
