import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'

import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from 'jose'
import type { GenerateKeyPairResult, JWK, JWTPayload } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import type { AppError } from '../../../src/errors/app-error.js'
import { Provider } from '../../../src/http/sign-on/provider.js'
import { makeOutboundClient } from '../../../src/lib/outbound/outbound-client.js'
import { CertificateAuthority, canMakeCertificates } from '../../support/certificates.js'
import { makeWorkspace } from '../../support/workspace.js'

const CLIENT = 'tidegate'
const SECRET = 'a secret of at least thirty-two bytes'
const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'

interface Key {
  readonly kid: string
  readonly privateKey: GenerateKeyPairResult['privateKey']
  readonly jwk: JWK
}

async function makeKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } }
}

type Claims = Readonly<Record<string, unknown>>

/** A provider that signs whatever a test wants. */
interface Crooked {
  issuer: string
  keys: readonly Key[]
  idToken: (claims: Claims) => Promise<string | undefined>
  metadata: object
  /** Paths that fail with 500. */
  broken: readonly string[]
}

describe.skipIf(!canMakeCertificates)('of a provider that misbehaves', () => {
  const workspace = makeWorkspace({})
  let server: Server
  let client: ReturnType<typeof makeOutboundClient>
  let key: Key
  let crooked: Crooked
  let nonce: string | undefined

  const signed = (claims: Claims, by: Key = key, alg = 'RS256'): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: by.kid }).sign(by.privateKey)
  const nowSeconds = (): number => Math.floor(Date.now() / 1000)

  beforeAll(async () => {
    const authority = new CertificateAuthority(workspace.path)
    const files = authority.make('provider', { subject: '/CN=provider', names: 'IP:127.0.0.1' })
    server = createServer({ cert: readFileSync(files.certificate), key: readFileSync(files.key) })
    server.on('request', (request, response) => {
      const path = request.url ?? ''
      if (crooked.broken.includes(path)) {
        response.writeHead(500).end()
        return
      }
      void bodyOf(path).then((body) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    client = makeOutboundClient(
      { allowLoopback: true, allowPrivate: true },
      { ca: readFileSync(authority.certificate, 'utf8') },
    )
    key = await makeKey('first')
  })
  afterAll(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
    workspace.remove()
  })
  beforeEach(() => {
    const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    crooked = { issuer, keys: [key], idToken: (claims) => signed(claims), metadata: {}, broken: [] }
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  async function bodyOf(path: string): Promise<object> {
    const { issuer, keys, metadata } = crooked
    if (path === '/jwks') return { keys: keys.map(({ jwk }) => jwk) }
    if (path !== '/token') {
      return {
        ...{ issuer, jwks_uri: `${issuer}/jwks`, token_endpoint: `${issuer}/token` },
        authorization_endpoint: `${issuer}/auth`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...metadata,
      }
    }
    const [iat, exp] = [nowSeconds(), nowSeconds() + 300]
    const claims = { iss: issuer, aud: CLIENT, sub: 'ana', groups: [], nonce, iat, exp }
    return { access_token: 'x', token_type: 'bearer', id_token: await crooked.idToken(claims) }
  }

  const makeProvider = (): Provider =>
    new Provider({
      ...{ issuer: crooked.issuer, clientId: CLIENT, clientSecret: SECRET, scopes: ['openid'], client },
      groupsClaim: 'groups',
      redirectUri: 'https://tidegate.example.org/ui/sign-in/callback',
      signedOutUri: 'https://tidegate.example.org/ui/sign-in',
    })
  /** Signs in; gives the subject, or the kind and message of the refusal. */
  const signIn = async (
    provider: Provider,
    query: (state: string) => string = (state) => `code=c&state=${state}`,
  ): Promise<unknown> => {
    try {
      const { departure } = await provider.depart()
      nonce = departure.nonce
      const { claims } = await provider.arrive(query(departure.state), departure)
      return (claims as Claims)['sub']
    } catch (raw) {
      const { kind, message } = raw as AppError
      return [kind, message]
    }
  }
  const refused = ['forbidden', expect.stringContaining('is not valid')]
  const changed = (change: Claims) => (claims: Claims) => signed({ ...claims, ...change })

  test.each<[string, (claims: Claims) => Promise<string | undefined>]>([
    ['for another client', changed({ aud: 'another' })],
    ['for several clients, issued to another one', changed({ aud: [CLIENT, 'another'], azp: 'another' })],
    ['of another issuer', changed({ iss: 'https://login.example.org' })],
    ['that has expired', changed({ exp: 1_700_000_000 })],
    ['without an end', changed({ exp: undefined })],
    ['that is not valid yet', changed({ nbf: 4_000_000_000 })],
    ['of another sign-in (nonce)', changed({ nonce: 'x'.repeat(43) })],
    ['without a nonce', changed({ nonce: undefined })],
    ['without a subject', changed({ sub: undefined })],
    ['with alg none', (claims) => Promise.resolve(new UnsecuredJWT(claims as JWTPayload).encode())],
    [
      'signed with the secret of the client',
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET)),
    ],
    ['signed with another algorithm than announced', (claims) => signedAs('RS384', claims)],
    ['signed by a key that is not its own', async (claims) => signed(claims, await makeKey('first'))],
    ['signed by an unknown key', async (claims) => signed(claims, await makeKey('unknown'))],
    ['that is cut off', async (claims) => (await signed(claims)).slice(0, -20)],
    ['that is no token', () => Promise.resolve('x')],
    ['that is missing', () => Promise.resolve(undefined)],
  ])('an ID token %s is refused', async (_, idToken) => {
    crooked.idToken = idToken
    expect(await signIn(makeProvider())).toEqual(refused)
  })

  const signedAs = async (alg: string, claims: Claims): Promise<string> => {
    const { privateKey, publicKey } = await generateKeyPair(alg)
    crooked.keys = [{ kid: 'first', privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'first' } }]
    return await signed(claims, { kid: 'first', privateKey, jwk: {} }, alg)
  }

  test.each([
    ['of another sign-in', () => 'code=c&state=of-another'],
    ['without a state', () => 'code=c'],
    [
      'of another issuer (RFC 9207)',
      (state: string) => `code=c&state=${state}&iss=https%3A%2F%2Fexample.org`,
    ],
    ['with two states', (state: string) => `code=c&state=${state}&state=${state}`],
  ])('an answer %s is refused', async (_, query) => {
    expect(await signIn(makeProvider(), query)).toEqual(refused)
  })

  test('an issuer that names itself otherwise is refused', async () => {
    crooked.metadata = { issuer: 'https://login.example.org' }
    expect(await signIn(makeProvider())).toEqual(refused)
  })

  test.each(['/.well-known/openid-configuration', '/token', '/jwks'])(
    'a failure at %s is temporary',
    async (path) => {
      const provider = makeProvider()
      crooked.broken = [path]
      expect(await signIn(provider)).toEqual(['unavailable', expect.stringContaining('does not answer')])
      crooked.broken = []
      expect(await signIn(provider)).toBe('ana')
    },
  )

  test('a new key is fetched when a token names it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const provider = makeProvider()
    expect(await signIn(provider)).toBe('ana')
    const second = await makeKey('second')
    crooked.keys = [second]
    crooked.idToken = (claims) => signed(claims, second)
    vi.setSystemTime(Date.now() + 61_000)
    expect(await signIn(provider)).toBe('ana')
    crooked.idToken = (claims) => signed(claims)
    expect(await signIn(provider)).toEqual(refused)
  })

  test.each<[string, Claims]>([
    ['that has expired', { exp: 1_700_000_000 }],
    ['without an end', { exp: undefined }],
    ['for another audience', { aud: 'another' }],
    ['of another issuer', { iss: 'https://login.example.org' }],
  ])('an access token %s is refused', async (_, change) => {
    const exp = nowSeconds() + 300
    const claims: Claims = { iss: crooked.issuer, aud: 'the-api', sub: 'robot', exp }
    const provider = makeProvider()
    expect(await provider.verifyToken(await signed(claims), 'the-api')).toEqual(claims)
    const token = await signed({ ...claims, ...change })
    await expect(provider.verifyToken(token, 'the-api')).rejects.toMatchObject({ kind: 'unauthenticated' })
  })

  describe('a logout token', () => {
    const logout = (): Claims => ({
      ...{ iss: crooked.issuer, aud: CLIENT, iat: nowSeconds(), exp: nowSeconds() + 120, jti: 'one' },
      ...{ sub: 'ana', sid: 'there', events: { [LOGOUT]: {} } },
    })

    test('names the account and its session', async () => {
      const ended = await makeProvider().verifyLogout(await signed(logout()))
      expect(ended).toEqual({ subject: 'ana', session: 'there' })
    })

    test.each<[string, Claims]>([
      ['for another client', { aud: 'another' }],
      ['of another issuer', { iss: 'https://login.example.org' }],
      ['that was signed long ago', { iat: 1_700_000_000 }],
      ['that has expired', { exp: 1_700_000_000 }],
      ['without its event', { events: {} }],
      ['with a nonce, which makes it an ID token', { nonce: 'n' }],
      ['without an id', { jti: undefined }],
      ['without a subject and session', { sub: undefined, sid: undefined }],
    ])('%s is refused', async (_, change) => {
      const token = await signed({ ...logout(), ...change })
      await expect(makeProvider().verifyLogout(token)).rejects.toMatchObject({ kind: 'invalid' })
    })
  })

  test.each([
    ['none', undefined],
    ['a script', 'javascript:alert(1)'],
  ])('people sign out here alone if its address for that is %s', async (_, end_session_endpoint) => {
    crooked.metadata = { end_session_endpoint }
    expect(await makeProvider().signOutUrl('token')).toBeUndefined()
  })
})
