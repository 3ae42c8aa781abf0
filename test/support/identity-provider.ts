import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'

import Provider from 'oidc-provider'
import type { Configuration } from 'oidc-provider'

import type { CertificateFiles } from './certificates.js'
import { ask, objectOf } from './http-client.js'

/** What the provider says of its people; tests change it. */
interface Person {
  groups: string[]
  verified?: boolean
}

export interface IdentityProvider {
  readonly issuer: string
  readonly people: Map<string, Person>
  /** Who signs in next. The provider shows no form. */
  user: string
  /** Refuses to renew sign-ins and forgets all grants. */
  endEverySignIn: () => void
  /** Stops answering, with or without coming back. */
  readonly away: { isAway: boolean }
  /** Whether a sign-in names the requested authentication context. */
  namesAcr: boolean
  /** An access token for an audience, as a program gets it. */
  readonly accessToken: (audience: string) => Promise<string>
  readonly close: () => Promise<void>
}

const CLIENT = { client_id: 'tidegate', client_secret: 'secret-of-tidegate' }
const ROBOT = { client_id: 'robot', client_secret: 'robot-secret' }
export const MFA = 'urn:example:mfa'
const ACCESS_SECONDS = 9

/**
 * A real OpenID Connect provider on loopback. `redirectUri` is that of the service. Access tokens
 * expire so soon that every request renews its session.
 */
export async function startIdentityProvider(
  { certificate, key }: CertificateFiles,
  redirectUri: () => string,
): Promise<IdentityProvider> {
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, Person>()
  const away = { isAway: false }
  const state: { provider: Provider | undefined; isEnded: boolean } = { provider: undefined, isEnded: false }
  const control: IdentityProvider = {
    ...{ issuer, people, away },
    user: 'ana@example.org',
    namesAcr: true,
    endEverySignIn: () => (state.isEnded = true),
    accessToken: async (audience) => {
      const form = { grant_type: 'client_credentials', resource: audience, ...ROBOT }
      const answer = await ask(issuer, {
        ...{ path: '/token', body: new URLSearchParams(form).toString() },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      return String(objectOf(answer)['access_token'])
    },
    close: () => close(server),
  }
  // Its redirect URI is known only once the service runs.
  const provider = (): Provider =>
    (state.provider ??= makeProvider(issuer, redirectUri(), people, () => state.isEnded))
  server.on('request', (request, response) => {
    if (away.isAway) {
      response.statusCode = 503
      response.end()
      return
    }
    if (request.url?.startsWith('/interaction/') === true) {
      void finishInteraction(provider(), request, response, control)
      return
    }
    void provider().callback()(request, response)
  })
  return control
}

async function finishInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: Parameters<Provider['interactionDetails']>[1],
  { user: accountId, namesAcr }: Pick<IdentityProvider, 'user' | 'namesAcr'>,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  const acr = params['acr_values'] === undefined || !namesAcr ? undefined : MFA
  await provider.interactionFinished(request, response, {
    login: { accountId, remember: false, ...(acr !== undefined && { acr }) },
  })
}

function makeProvider(
  issuer: string,
  redirectUri: string,
  people: ReadonlyMap<string, Person>,
  isEnded: () => boolean,
): Provider {
  const configuration: Configuration = {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [new URL('/ui/sign-in', redirectUri).href],
        backchannel_logout_uri: new URL('/ui/sign-in/back-channel', redirectUri).href,
        backchannel_logout_session_required: true,
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        ...{
          ...ROBOT,
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [],
          response_types: [],
        },
        grant_types: ['client_credentials'],
      },
    ],
    acrValues: [MFA],
    claims: { openid: ['sub', 'acr'], email: ['email', 'email_verified', 'groups'] },
    // Groups are in the user info only, as with many providers.
    conformIdTokenClaims: true,
    cookies: { keys: ['a key of the test'] },
    ttl: { AccessToken: ACCESS_SECONDS, ClientCredentials: 600 },
    issueRefreshToken: () => Promise.resolve(true),
    // Without the check that refuses addresses of the loopback.
    fetch: (url, { method, headers, body } = {}) =>
      fetch(url, { method: method ?? 'GET', headers: headers as never, body: body as never }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => Promise.resolve([]),
        getResourceServerInfo: (_context, audience) => ({ audience, scope: '', accessTokenFormat: 'jwt' }),
      },
    },
    findAccount: (_context, id) => {
      const person = people.get(id)
      if (person === undefined || isEnded()) return undefined
      const { groups, verified = true } = person
      return {
        accountId: id,
        claims: () =>
          Promise.resolve({ sub: `subject of ${id}`, email: id, email_verified: verified, groups }),
      }
    },
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
  return new Provider(issuer, configuration)
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
