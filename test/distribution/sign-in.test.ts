import { createHash, createHmac } from 'node:crypto'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { fetchOverHttp } from '../../src/distribution/fetching/http-bundle.js'
import { makeAuthorize } from '../../src/distribution/fetching/sign-in.js'
import type { SourceSignIn } from '../../src/distribution/fetching/sign-in.js'
import { wait } from '../../src/lib/outbound/back-off.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'

let server: LoopbackServer
let tokens = 0
beforeEach(async () => {
  tokens = 0
  server = await startLoopbackServer(({ url }, response) => {
    if (url === '/token') respondJson(response, 200, { access_token: `t${++tokens}`, expires_in: 3600 })
    else if (url === '/refused') respondJson(response, 401, { error: 'invalid_client' })
    else response.writeHead(200, { etag: '"1"' }).end('bundle')
  })
})
afterEach(() => server.close())

async function fetchWith(signIn: SourceSignIn, times = 1, path = '/bucket/a%20b.tar.gz?x=1'): Promise<void> {
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: false })
  const clocks = { now: () => performance.now(), timeOfDay: () => Date.UTC(2026, 0, 2, 3, 4, 5) }
  const authorize = makeAuthorize('main', signIn, { client, ...clocks, wait, random: Math.random })
  const settings = {
    url: `${server.origin}${path}`,
    headers: {},
    authorize,
    timeoutMs: 9000,
  }
  const fetch = fetchOverHttp(settings, client)
  const request = { known: undefined, waitMs: 0, signal: new AbortController().signal }
  for (let nth = 0; nth < times; nth++) await fetch(request)
  await client.close()
}

const oauth2 = (path: string): SourceSignIn => ({
  type: 'oauth2',
  tokenUrl: `${server.origin}${path}`,
  clientId: 'id',
  clientSecret: new Secret('secret'),
  scopes: ['read', 'more'],
})

test('OAuth2 client credentials give one token for several requests', async () => {
  await fetchWith(oauth2('/token'), 2)
  const [token, ...fetches] = server.seen
  expect(token).toMatchObject({ method: 'POST', body: 'grant_type=client_credentials&scope=read+more' })
  expect(token?.headers['authorization']).toBe(`Basic ${Buffer.from('id:secret').toString('base64')}`)
  expect(fetches.map(({ headers }) => headers['authorization'])).toEqual(['Bearer t1', 'Bearer t1'])
})

test('a token server that refuses is named, and no request is sent without a token', async () => {
  await expect(fetchWith(oauth2('/refused'))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('main (its sign-in)') as unknown,
  })
  expect(server.seen.some(({ url }) => url.startsWith('/bucket'))).toBe(false)
})

test.each([
  ['s3', '/bucket/a%20b.tar.gz?x=1', '/bucket/a%20b.tar.gz', 'x=1'],
  // Characters that URLs leave as they are, and a query in another order.
  [
    's3',
    "/bucket/day=1/r+2/@3:4,(5)!*'$&;~.gz",
    '/bucket/day%3D1/r%2B2/%403%3A4%2C%285%29%21%2A%27%24%26%3B~.gz',
    '',
  ],
  ['s3', '/bucket/b%c3%bcndel%2F%zz', '/bucket/b%C3%BCndel%2F%25zz', ''],
  ['s3', '/bucket/a?versionId=1/2&attempt&a=b=c', '/bucket/a', 'a=b%3Dc&attempt=&versionId=1%2F2'],
  ['execute-api', '/stage/a%20b=1', '/stage/a%2520b%3D1', ''],
])(
  'requests to Amazon are signed with version 4 (the steps of the AWS reference): %s %s',
  async (service, url, path, query) => {
    const signIn: SourceSignIn = {
      type: 'aws',
      service,
      region: 'eu-central-1',
      accessKeyId: 'AKID',
      secretAccessKey: new Secret('sak'),
      sessionToken: new Secret('session'),
    }
    await fetchWith(signIn, 1, url)
    const headers = server.seen[0]?.headers
    const empty = createHash('sha256').update('').digest('hex')
    const hashed = service === 's3' ? [`x-amz-content-sha256:${empty}`] : []
    const lines = [...hashed, 'x-amz-date:20260102T030405Z', 'x-amz-security-token:session']
    const names = ['host', ...lines.map((line) => line.replace(/:.*/, ''))].join(';')
    const canonical = [
      ...['GET', path, query, `host:127.0.0.1:${server.port}`],
      ...[...lines, '', names, empty],
    ].join('\n')
    const scope = `20260102/eu-central-1/${service}/aws4_request`
    const digest = createHash('sha256').update(canonical).digest('hex')
    const toSign = ['AWS4-HMAC-SHA256', '20260102T030405Z', scope, digest].join('\n')
    const key = ['20260102', 'eu-central-1', service, 'aws4_request'].reduce<Buffer>(
      (by, text) => createHmac('sha256', by).update(text).digest(),
      Buffer.from('AWS4sak'),
    )
    const signature = createHmac('sha256', key).update(toSign).digest('hex')
    expect(headers?.['authorization']).toBe(
      `AWS4-HMAC-SHA256 Credential=AKID/${scope},SignedHeaders=${names},Signature=${signature}`,
    )
  },
)
