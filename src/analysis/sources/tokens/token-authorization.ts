import { z } from 'zod'

import { wholeAnswer } from '../answers/answer-reading.js'
import type { ConnectionSettings, SourceConnection, SourceRequest } from '../answers/source-connection.js'
import { makeSharedAuthorization } from './shared-authorization.js'
import type { AzureSettings, AzureSignIn } from '../answers/source-settings.js'

const MS_PER_SECOND = 1000
/** Lifetime of a token without a stated expiry, in seconds. */
const DEFAULT_SECONDS = 300

/** RFC 6749, section 5.1; managed identities send the number as a string. */
const Answer = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().optional() })

/**
 * A bearer token for each request, renewed before it expires. `makeRequest` returns an error
 * message if a token cannot be requested.
 */
export function makeTokenAuthorization(
  connection: SourceConnection,
  makeRequest: () => SourceRequest | string,
  now: () => number,
): NonNullable<ConnectionSettings['authorize']> {
  return makeSharedAuthorization(async (deadline) => {
    const request = makeRequest()
    if (typeof request === 'string') return `${connection.name}: ${request}`
    const requestedMs = now()
    const reply = await connection.send(request, deadline, wholeAnswer)
    if (!reply.isAnswered) return reply.problem
    const answer = Answer.safeParse(reply.answer).data
    if (answer === undefined) return `${connection.name}: the answer holds no access_token`
    const { access_token: value, expires_in: seconds = DEFAULT_SECONDS } = answer
    const headers = { authorization: `Bearer ${value}` }
    return { sign: () => headers, untilMs: requestedMs + seconds * MS_PER_SECOND }
  }, now)
}

/**
 * API versions of the endpoints for managed identities: `app` for App Service and Container Apps,
 * which require the header `x-identity-header`, and `machine` for virtual machines.
 */
const IDENTITY_VERSIONS = { app: '2019-08-01', machine: '2018-02-01' } as const
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The URL of the token server of Azure. */
export function azureTokenUrl(signIn: AzureSignIn): string {
  return signIn.type === 'managed-identity' ? signIn.url : signIn.loginUrl
}

/**
 * The request for a token. The caller is a client with a secret, a client with the token of a
 * service account, or a managed identity.
 */
export function azureTokenRequest({ signIn, url }: AzureSettings): SourceRequest {
  const audience = signIn.audience ?? new URL(url).origin
  if (signIn.type !== 'managed-identity') {
    return {
      method: 'POST',
      path: `/${encodeURIComponent(signIn.tenantId)}/oauth2/v2.0/token`,
      form: {
        grant_type: 'client_credentials',
        client_id: signIn.clientId,
        ...(signIn.type === 'client-secret'
          ? { client_secret: signIn.clientSecret.reveal() }
          : { client_assertion_type: ASSERTION_TYPE, client_assertion: signIn.token.reveal().trim() }),
        scope: `${audience}/.default`,
      },
    }
  }
  const { clientId, header } = signIn
  return {
    method: 'GET',
    path: '',
    search: {
      'api-version': IDENTITY_VERSIONS[header === undefined ? 'machine' : 'app'],
      resource: `${audience}/`,
      ...(clientId !== undefined && { client_id: clientId }),
    },
    // Azure Arc and virtual machines require `metadata`, App Service requires `x-identity-header`.
    headers: { metadata: 'true', ...(header !== undefined && { 'x-identity-header': header.reveal() }) },
  }
}
