import * as openid from 'openid-client'
import { createRemoteJWKSet, customFetch as jwksFetch, errors as joseErrors, jwtVerify } from 'jose'
import type { JWTVerifyOptions } from 'jose'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { OutboundClient, OutboundMethod } from '../../lib/outbound/outbound-client.js'
import { onDemand } from '../../lib/on-demand.js'

export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly scopes: readonly string[]
  /** Claim that is also looked for in the user info if the ID token lacks it. */
  readonly groupsClaim: string
  /** Address of the callback route as browsers see it. */
  readonly redirectUri: string
  /** Address to which the provider sends browsers after signing out. */
  readonly signedOutUri: string
  readonly client: Pick<OutboundClient, 'send'>
}

/** What a browser keeps between leaving for the provider and coming back. */
export interface Departure {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Result of a sign-in or a renewal. */
export interface Grant {
  /** Claims of the ID token and the user info; undefined if a renewal returned no ID token. */
  readonly claims: Readonly<Record<string, unknown>> | undefined
  /** Undefined if the session cannot be renewed. */
  readonly refreshToken: string | undefined
  /** Undefined if a renewal returned none. */
  readonly idToken: string | undefined
  /** Lifetime of the access token in seconds, if the provider states it. */
  readonly seconds: number | undefined
}

/** Whose sessions end: those of a subject, or one session at the provider. */
export interface EndedAccount {
  readonly subject: string | undefined
  readonly session: string | undefined
}

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A logout token is accepted for as long after it was signed. */
const LOGOUT_SECONDS = 300
const LogoutClaims = z
  .looseObject({
    sub: z.string().optional(),
    sid: z.string().optional(),
    events: z.looseObject({ [LOGOUT_EVENT]: z.looseObject({}) }),
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined)

/** Signature algorithms with a public key. `none` and shared secrets are never accepted. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 1024 * 1024
const SERVER_ERROR = 500
/** Statuses whose responses have no body. */
const BODYLESS: readonly number[] = [204, 205, 304]

/**
 * An OpenID Connect provider: authorization code flow with PKCE, nonce and checked signatures
 * (OpenID Connect Core 1.0; RFC 7636, 9207). Its metadata is fetched at the first use, its keys
 * again whenever an unknown one appears.
 */
export class Provider {
  readonly #settings: ProviderSettings
  readonly #configuration: () => Promise<openid.Configuration>
  readonly #keys: () => Promise<ReturnType<typeof createRemoteJWKSet>>

  constructor(settings: ProviderSettings) {
    this.#settings = settings
    const send = fetchOver(settings.client)
    this.#configuration = onDemand(() => discover(settings, send))
    this.#keys = onDemand(async () => {
      const { jwks_uri: url } = (await this.#configuration()).serverMetadata()
      if (url === undefined) throw unusable('its metadata has no jwks_uri')
      return createRemoteJWKSet(new URL(url), { [jwksFetch]: send })
    })
  }

  /** Returns the address to which a browser goes. `acr` asks for an authentication context. */
  async depart(acr?: string): Promise<{ readonly url: string; readonly departure: Departure }> {
    const configuration = await this.#configured()
    const departure = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    }
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: this.#settings.scopes.join(' '),
      code_challenge: await openid.calculatePKCECodeChallenge(departure.verifier),
      code_challenge_method: 'S256',
      state: departure.state,
      nonce: departure.nonce,
      ...(acr !== undefined && { acr_values: acr, prompt: 'login' }),
    })
    return { url: url.href, departure }
  }

  /**
   * Completes a sign-in with the query of the callback. Raises `forbidden` if the provider refused
   * or the answer is not for this departure, and `unavailable` if the provider does not answer.
   */
  async arrive(
    query: string,
    { state, nonce, verifier }: Departure,
  ): Promise<Grant & { readonly claims: object }> {
    const configuration = await this.#configured()
    const url = new URL(`${this.#settings.redirectUri}?${query}`)
    const tokens = await explained(() =>
      openid.authorizationCodeGrant(configuration, url, {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
        idTokenExpected: true,
      }),
    )
    const grant = await this.#grant(configuration, tokens)
    if (grant.claims === undefined) throw unusable('it returned no ID token')
    return { ...grant, claims: grant.claims }
  }

  /** Renews a sign-in. Raises `unauthenticated` if the provider ended it, and `unavailable`. */
  async renew(refreshToken: string): Promise<Grant> {
    const configuration = await this.#configured()
    try {
      const tokens = await explained(() => openid.refreshTokenGrant(configuration, refreshToken))
      const grant = await this.#grant(configuration, tokens)
      return { ...grant, refreshToken: grant.refreshToken ?? refreshToken }
    } catch (raw) {
      if (!(raw instanceof AppError) || raw.kind === 'unavailable') throw raw
      throw new AppError('unauthenticated', 'The identity provider ended your sign-in. Sign in again.', {
        cause: raw,
      })
    }
  }

  /**
   * Returns the address at which a browser signs out at the provider (OpenID Connect RP-Initiated
   * Logout 1.0), or undefined if the provider has none. Raises `unavailable`.
   */
  async signOutUrl(idToken: string | undefined): Promise<string | undefined> {
    const configuration = await this.#configured()
    const { end_session_endpoint: endpoint = '' } = configuration.serverMetadata()
    if (!/^https?:/i.test(endpoint)) return undefined
    return openid.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: this.#settings.signedOutUri,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    }).href
  }

  /**
   * Returns whose sessions a logout token ends (OpenID Connect Back-Channel Logout 1.0, 2.6). Raises
   * `invalid` unless the provider signed it for this service in the last minutes, and `unavailable`.
   */
  async verifyLogout(token: string): Promise<EndedAccount> {
    const options = { audience: this.#settings.clientId, maxTokenAge: LOGOUT_SECONDS, clockTolerance: 10 }
    const claims = await this.#verify(token, { ...options, requiredClaims: ['jti'] }, 'invalid')
    const read = LogoutClaims.safeParse(claims)
    if (!read.success)
      throw new AppError(
        'invalid',
        'logout_token: it must have the logout event and sub or sid, and no nonce',
      )
    return { subject: read.data.sub, session: read.data.sid }
  }

  /**
   * Returns the claims of an access token for an audience (RFC 9068). Raises `unauthenticated` if it
   * is invalid, expired or for another audience, and `unavailable`.
   */
  async verifyToken(token: string, audience: string): Promise<Readonly<Record<string, unknown>>> {
    return await this.#verify(token, { audience, requiredClaims: ['exp', 'sub'] }, 'unauthenticated')
  }

  async #verify(
    token: string,
    options: JWTVerifyOptions,
    refusal: 'invalid' | 'unauthenticated',
  ): Promise<Readonly<Record<string, unknown>>> {
    const { issuer } = (await this.#configured()).serverMetadata()
    const keys = await this.#keys()
    try {
      return (await jwtVerify(token, keys, { ...options, issuer, algorithms: ALGORITHMS })).payload
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      if (cause instanceof joseErrors.JWKSTimeout) throw unreachable(cause)
      const reason = cause instanceof joseErrors.JOSEError ? cause.message : 'it cannot be verified'
      throw new AppError(refusal, `the token of the identity provider is not valid: ${reason}`, {
        cause,
      })
    }
  }

  #configured(): Promise<openid.Configuration> {
    return explained(this.#configuration)
  }

  async #grant(
    configuration: openid.Configuration,
    tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
  ): Promise<Grant> {
    const claims = tokens.claims()
    const all = claims && (await this.#withUserInfo(configuration, claims, tokens.access_token))
    const { refresh_token: refreshToken, id_token: idToken } = tokens
    return { claims: all, refreshToken, idToken, seconds: tokens.expiresIn() }
  }

  /** Providers may give groups in the user info only. */
  async #withUserInfo(
    configuration: openid.Configuration,
    claims: openid.IDToken,
    accessToken: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const isComplete = claims[this.#settings.groupsClaim] !== undefined
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    const info = await explained(() => openid.fetchUserInfo(configuration, accessToken, claims.sub))
    return { ...info, ...claims }
  }
}

async function discover(settings: ProviderSettings, send: openid.CustomFetch): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecret } = settings
  return await openid.discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? openid.None() : clientAuthentication(clientSecret),
    { [openid.customFetch]: send, execute: [openid.enableNonRepudiationChecks] },
  )
}

/** HTTP Basic, unless the provider accepts the secret in the form only (Discovery 1.0, 3). */
function clientAuthentication(secret: string): openid.ClientAuth {
  const [basic, form] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? basic : form
    authenticate(server, client, body, headers)
  }
}

/** A `fetch` over the service's own client, with its address checks and bounds. */
function fetchOver(
  client: ProviderSettings['client'],
): (url: string, options: FetchOptions) => Promise<Response> {
  return async (url, { method = 'GET', headers, body }) => {
    const reply = await client.send({
      ...{
        url,
        method: method as OutboundMethod,
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      },
      headers: Object.fromEntries(new Headers(headers)),
      ...(body !== undefined && body !== null && { body: textOf(body) }),
    })
    const { status } = reply
    if (status >= SERVER_ERROR)
      throw new AppError('unavailable', `the identity provider answered with ${status}`)
    return new Response(BODYLESS.includes(status) ? null : new Uint8Array(reply.body), {
      status,
      headers: reply.headers,
    })
  }
}

interface FetchOptions {
  readonly method?: string
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  readonly body?: unknown
}

/** Requests to a provider are forms. */
function textOf(body: unknown): string {
  return body instanceof URLSearchParams ? body.toString() : String(body)
}

/** Turns failures of the library into errors that say who has to act. */
async function explained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (raw) {
    const own = [raw, raw instanceof Error ? raw.cause : undefined].find((each) => each instanceof AppError)
    if (own instanceof AppError) throw unreachable(own)
    if (raw instanceof openid.AuthorizationResponseError || raw instanceof openid.ResponseBodyError) {
      const { error, error_description: more = '' } = raw
      throw new AppError(
        'forbidden',
        `The identity provider refused the sign-in: ${[error, more].filter(Boolean).join(', ')}`,
        {
          ...{ code: 'sign_in_refused', cause: raw },
        },
      )
    }
    if (raw instanceof openid.ClientError) {
      throw new AppError(
        'forbidden',
        `The answer of the identity provider is not valid: ${raw.message}. Sign in again.`,
        {
          ...{ code: 'sign_in_invalid', cause: raw },
        },
      )
    }
    throw raw
  }
}

function unreachable(cause: Error): AppError {
  return new AppError('unavailable', 'The identity provider does not answer. Try again in a moment.', {
    ...{ code: 'provider_unavailable', cause },
  })
}

function unusable(problem: string): AppError {
  return new AppError('unavailable', `The identity provider cannot be used: ${problem}.`, {
    code: 'provider_unusable',
  })
}
