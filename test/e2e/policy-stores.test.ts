import { createHash, createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { afterAll, afterEach, describe, expect, test } from 'vitest'

import type { BundleLocation, ServerAccess } from '../../src/distribution/fetching/bundle-location.js'
import { makeFetch } from '../../src/distribution/fetching/make-fetch.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import { packFiles, packMembers } from '../support/make-bundle.js'
import { objectStoreNote, registryNote, startObjectStore, startRegistry } from '../support/policy-stores.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

// Of "password".
const PASSWORD_HASH = '$2a$05$hvX4J8zd95bQWaIgAXW1M.XhU24dvIp5f9joQDVeH7qwYGaWs/I0.'
const workspace = makeWorkspace({ htpasswd: `user:${PASSWORD_HASH}\n`, password: 'password' })
afterAll(workspace.remove)
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const bundleOf = (version: string): Promise<Buffer> =>
  packFiles({
    '.manifest': JSON.stringify({ revision: version, roots: ['static/a'] }),
    'a.rego': `package static.a\nimport rego.v1\ndeny contains "version ${version}"\n`,
  })

let started = 0
async function serve(policies: object): Promise<TidegateProcess> {
  const config = { policies: { ...policies } }
  const tidegate = await startTidegate({
    ...{ workspace, directories: [], config, dataDir: `data-${++started}` },
  })
  closing.push(() => tidegate.end('SIGTERM'))
  return tidegate
}

async function reasons({ url }: TidegateProcess): Promise<unknown> {
  return objectOf(await postJson(url, '/v1/staticPolicy/eval', { input: { new: {} } }))['deny']
}

/** Downloads now. Returns the first source. */
async function refresh({ url }: TidegateProcess): Promise<unknown> {
  const answer = objectOf(await ask(url, { method: 'POST', path: '/policies/refresh' }))
  return (answer['sources'] as readonly unknown[])[0]
}

/** Both serve the first version, the second once it is there, and nothing else afterwards. */
async function expectBothFollow(
  both: readonly TidegateProcess[],
  publish: (version: string) => Promise<unknown>,
  revision: unknown = '2',
): Promise<void> {
  for (const one of both) expect(await reasons(one)).toEqual(['version 1'])
  await publish('2')
  for (const one of both) {
    expect(await refresh(one)).toMatchObject({ revision, isStale: false })
    const again = (await refresh(one)) as object
    expect(again).not.toHaveProperty('problem')
    expect(await reasons(one)).toEqual(['version 2'])
    const metrics = (await ask(one.url, { path: '/metrics' })).text
    expect(metrics).toContain('tidegate_policy_source_downloads_total{source="main"} 2')
  }
}

const ACCESS: ServerAccess = { headers: {}, tls: {}, timeoutMs: 20_000 }

/** One request, because a service repeats its first one for a minute. */
async function fetchFrom(location: BundleLocation): Promise<unknown> {
  const { fetch, close } = makeFetch('main', location, '')
  closing.push(close)
  return await fetch({ known: undefined, waitMs: 0, signal: new AbortController().signal })
}

const basicOf = (password: string): string => `Basic ${Buffer.from(`user:${password}`).toString('base64')}`

/** Nothing is downloaded but by a refresh. */
const WAIT = { minDelaySeconds: 600, maxDelaySeconds: 900 }
const POLLING = { min_delay_seconds: 600, max_delay_seconds: 900 }
function opaConfig(name: string, services: object, resource: string): object {
  const bundles = { main: { service: 'store', resource, polling: POLLING } }
  workspace.write({ [name]: JSON.stringify({ services, bundles }) })
  return { opaConfig: `${workspace.path}/${name}` }
}

describe.skipIf(registryNote !== '')(`a registry${registryNote}`, () => {
  const REPOSITORY = 'team/policies'
  const credentials = { type: 'basic', username: 'user', password: { file: `${workspace.path}/password` } }
  const image = (url: string, more: object = {}): object => ({
    ...{ name: 'main', type: 'oci', url, repository: REPOSITORY, reference: 'stable' },
    ...{ credentials, ...WAIT, ...more },
  })

  test('with passwords feeds two services, which follow its tag, and a digest stays', async () => {
    const auth = { htpasswd: { realm: 'bundles', path: `${workspace.path}/htpasswd` } }
    const registry = await startRegistry(auth, () => basicOf('password'))
    closing.push(registry.stop)
    const push = async (version: string): Promise<string> =>
      await registry.push(REPOSITORY, 'stable', await bundleOf(version))
    const first = await push('1')
    const bearer = { scheme: 'Basic', token: 'user:password' }
    const services = { store: { url: registry.url, type: 'oci', credentials: { bearer } } }
    const resource = `${new URL(registry.url).host}/${REPOSITORY}:stable`
    const both = [
      await serve({ sources: [image(registry.url)] }),
      await serve(opaConfig('registry.json', services, resource)),
    ]
    await expectBothFollow(both, push)
    const fixed = await serve({ sources: [image(registry.url, { reference: first })] })
    expect(await reasons(fixed)).toEqual(['version 1'])
  })

  test('refuses a wrong password and has no missing tag, and the reason says what to check', async () => {
    const auth = { htpasswd: { realm: 'bundles', path: `${workspace.path}/htpasswd` } }
    const registry = await startRegistry(auth, () => basicOf('password'))
    closing.push(registry.stop)
    await registry.push(REPOSITORY, 'stable', await bundleOf('1'))
    const fetchWith = (password: string, reference: string): Promise<unknown> =>
      fetchFrom({
        ...{ type: 'oci', url: registry.url, repository: REPOSITORY, reference },
        access: { ...ACCESS, headers: { authorization: basicOf(password) } },
      })
    await expect(fetchWith('guess', 'stable')).rejects.toThrow(
      'responded with 401 Unauthorized: check the credentials of the source',
    )
    await expect(fetchWith('password', 'missing')).rejects.toThrow('responded with 404')
    await expect(fetchWith('password', 'stable')).resolves.toMatchObject({ isChanged: true })
  })

  test.skipIf(!canMakeCertificates)('with a token server feeds services that sign in there', async () => {
    const authority = new CertificateAuthority(workspace.path)
    const { certificate, key } = authority.make('tokens', { subject: '/CN=tokens' })
    const der = readFileSync(certificate, 'utf8').replace(/-----[^-]+-----|\s/g, '')
    const signingKey = createPrivateKey(readFileSync(key))
    const alg = signingKey.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256'
    const tokenFor = (repository: string, actions: readonly string[]): string => {
      const seconds = Math.floor(Date.now() / 1000)
      const access = [{ type: 'repository', name: repository, actions }]
      const times = { exp: seconds + 600, nbf: seconds - 10, iat: seconds - 10 }
      const claims = { iss: 'tokens', sub: 'user', aud: 'bundles', jti: '1', ...times, access }
      const input = [{ typ: 'JWT', alg, x5c: [der] }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
      const form = { key: signingKey, dsaEncoding: 'ieee-p1363' } as const
      return `${input}.${sign('sha256', Buffer.from(input), form).toString('base64url')}`
    }
    const tokens = await startLoopbackServer(({ url, headers }, response) => {
      const asked = new URL(url, 'http://tokens')
      if (headers['authorization'] !== basicOf('password')) respondJson(response, 401, {})
      else {
        const [, repository = ''] = (asked.searchParams.get('scope') ?? '').split(':')
        respondJson(response, 200, { token: tokenFor(repository, ['pull']) })
      }
    })
    closing.push(() => tokens.close())
    const auth = {
      token: {
        ...{ realm: `${tokens.origin}/token`, service: 'bundles', issuer: 'tokens' },
        rootcertbundle: authority.certificate,
      },
    }
    const registry = await startRegistry(
      auth,
      (repository) => `Bearer ${tokenFor(repository, ['pull', 'push'])}`,
    )
    closing.push(registry.stop)
    await registry.push(REPOSITORY, 'stable', await bundleOf('1'))
    const sources = [image(registry.url, { tokenServer: tokens.origin })]
    const both = [await serve({ sources }), await serve({ sources })]
    await expectBothFollow(both, async (version) =>
      registry.push(REPOSITORY, 'stable', await bundleOf(version)),
    )
  })
})

describe.skipIf(objectStoreNote !== '')(`an S3 server${objectStoreNote}`, () => {
  test.each([
    '/bundles/main.tar.gz',
    "/bundles/team=a/rev+1/b%C3%BCndel%20(new)!/$c&d'e*f:g;h~i_j-k@2,3.tar.gz",
  ])('feeds two services, which follow the object %s', async (path) => {
    const store = await startObjectStore()
    closing.push(store.stop)
    await store.put('/bundles')
    const publish = async (version: string): Promise<void> => store.put(path, await bundleOf(version))
    await publish('1')
    const url = `${store.url}${path}`
    workspace.write({ 's3-secret': store.secretAccessKey })
    const { region, accessKeyId } = store
    const secretAccessKey = { file: `${workspace.path}/s3-secret` }
    const signIn = { type: 'aws', region, accessKeyId, secretAccessKey }
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: store.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
      AWS_REGION: store.region,
    })
    const credentials = { s3_signing: { environment_credentials: {} } }
    const both = [
      await serve({ sources: [{ name: 'main', type: 'http', url, signIn, ...WAIT }] }),
      await serve(opaConfig('s3.json', { store: { url: store.url, credentials } }, path)),
    ]
    await expectBothFollow(both, publish)
  })

  test('refuses a wrong key and has no missing object, and the reason says what to check', async () => {
    const store = await startObjectStore()
    closing.push(store.stop)
    await store.put('/bundles')
    await store.put('/bundles/main', await bundleOf('1'))
    const fetchWith = (key: string, path: string): Promise<unknown> => {
      const { region, accessKeyId, url } = store
      const signIn = { type: 'aws', service: 's3', region, accessKeyId } as const
      const access = { ...ACCESS, signIn: { ...signIn, secretAccessKey: new Secret(key) } }
      return fetchFrom({ type: 'http', url: `${url}${path}`, access })
    }
    await expect(fetchWith('guess', '/bundles/main')).rejects.toThrow(
      'responded with 403 Forbidden: check the credentials of the source',
    )
    await expect(fetchWith(store.secretAccessKey, '/bundles/missing')).rejects.toThrow('responded with 404')
    const versioned = fetchWith(store.secretAccessKey, '/bundles/main?x-id=GetObject&attempt')
    await expect(versioned).resolves.toMatchObject({ isChanged: true })
  })
})

/** The order, names and manifest that OPA Control Plane gives the bundle of a source in Git. */
const controlPlaneBundle = (version: string): Promise<Buffer> =>
  packMembers([
    { name: '/data.json', content: '{"users":[{"id":"ann"}]}' },
    // Without `import rego.v1`, as `rego_version` permits.
    { name: '/source/a.rego', content: `package static.a\ndeny[text] { text := "version ${version}" }\n` },
    { name: '/source1/b.rego', content: 'package lib.b\n\nimport rego.v1\n\nx if true\n' },
    { name: '/.manifest', content: '{"revision":"","roots":["static/a","lib/b","users"],"rego_version":0}' },
  ])

test('a server that answers as OPA Control Plane feeds two services, which follow it', async () => {
  const path = 'v1/external/bundles/main/bundle.tar.gz'
  let bundle = await controlPlaneBundle('1')
  const server = await startLoopbackServer(({ url, headers }, response) => {
    const etag = `"${createHash('sha256').update(bundle).digest('hex')}"`
    if (headers['authorization'] !== 'Bearer downloader') response.writeHead(401).end()
    else if (url !== `/${path}`) response.writeHead(404).end()
    else if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
    else response.writeHead(200, { etag, 'content-type': 'application/gzip' }).end(bundle)
  })
  closing.push(() => server.close())
  workspace.write({ downloader: 'downloader' })
  const credentials = { type: 'bearer', token: { file: `${workspace.path}/downloader` } }
  const store = { url: server.origin, headers: { Authorization: 'Bearer downloader' } }
  const both = [
    await serve({
      sources: [{ name: 'main', type: 'http', url: `${server.origin}/${path}`, credentials, ...WAIT }],
    }),
    await serve(opaConfig('control-plane.json', { store }, path)),
  ]
  for (const { url } of both)
    expect(objectOf(await ask(url, { path: '/v1/data/users' }))).toMatchObject({ result: [{ id: 'ann' }] })
  // The bundle has no revision, so its digest is shown.
  await expectBothFollow(
    both,
    async (version) => (bundle = await controlPlaneBundle(version)),
    expect.stringMatching(/^sha256:[\da-f]{16}$/),
  )
})
