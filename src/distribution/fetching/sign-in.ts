import { makeSourceConnection } from '../../analysis/sources/answers/source-connection.js'
import type { ConnectionParts, SourceConnection } from '../../analysis/sources/answers/source-connection.js'
import type { AwsAccess } from '../../analysis/sources/answers/source-settings.js'
import { fetchAwsKeys, signForAws } from '../../analysis/sources/tokens/aws-keys.js'
import { makeSharedAuthorization } from '../../analysis/sources/tokens/shared-authorization.js'
import { makeTokenAuthorization } from '../../analysis/sources/tokens/token-authorization.js'
import { AppError } from '../../errors/app-error.js'
import type { Secret } from '../../lib/outbound/credentials.js'
import type { Authorize } from './http-bundle.js'

/** Credentials that need a request of their own, or sign each request. */
export type SourceSignIn =
  | {
      readonly type: 'oauth2'
      readonly tokenUrl: string
      readonly clientId: string
      readonly clientSecret: Secret
      readonly scopes: readonly string[]
    }
  /** `service` is the signing name, such as `s3`. */
  | ({ readonly type: 'aws'; readonly service: string } & AwsAccess)

const MAX_ANSWER_BYTES = 1024 * 1024
const TIMEOUT_MS = 10_000

/** Returns how to sign in requests of a source. `parts.client` sends requests for credentials. */
export function makeAuthorize(name: string, signIn: SourceSignIn, parts: ConnectionParts): Authorize {
  const authorize = authorizationOf(name, signIn, parts)
  return async (signal) => {
    const sign = await authorize({ atMs: parts.now() + TIMEOUT_MS, signal })
    if (typeof sign === 'string') throw new AppError('unavailable', sign)
    return sign
  }
}

function authorizationOf(
  name: string,
  signIn: SourceSignIn,
  parts: ConnectionParts,
): ReturnType<typeof makeSharedAuthorization> {
  const connect = (url: string): SourceConnection =>
    makeSourceConnection(
      {
        ...{ name: `${name} (its sign-in)`, url, headers: {} },
        ...{ requestTimeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES },
      },
      parts,
    )
  if (signIn.type === 'oauth2') {
    const { tokenUrl, clientId, clientSecret, scopes } = signIn
    return makeTokenAuthorization(
      connect(tokenUrl),
      () => ({
        ...{ method: 'POST', path: '' },
        // RFC 6749, section 2.3.1; every token server supports it.
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret.reveal()}`).toString('base64')}`,
        },
        form: { grant_type: 'client_credentials', ...(scopes.length > 0 && { scope: scopes.join(' ') }) },
      }),
      parts.now,
    )
  }
  const { accessKeyFrom: from, accessKeyId, secretAccessKey, sessionToken, region, service } = signIn
  if (from !== undefined) {
    const connection = connect(from.url)
    return makeSharedAuthorization(async (deadline) => {
      const keys = await fetchAwsKeys(from, connection, deadline)
      if (typeof keys === 'string') return keys
      return { sign: signForAws(keys, { region, service }, parts.timeOfDay), untilMs: keys.untilMs }
    }, parts.timeOfDay)
  }
  if (accessKeyId === undefined || secretAccessKey === undefined)
    return () => Promise.resolve(`${name}: an access key is missing`)
  const keys = { accessKeyId, secretAccessKey, sessionToken }
  return () => Promise.resolve(signForAws(keys, { region, service }, parts.timeOfDay))
}
