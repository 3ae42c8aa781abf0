import { authHeaders } from '../../lib/outbound/credentials.js'
import type { OutboundClient } from '../../lib/outbound/outbound-client.js'
import { signForAws, fetchAwsKeys } from './tokens/aws-keys.js'
import { makeSourceConnection } from './answers/source-connection.js'
import type { ConnectionParts, ConnectionSettings, SourceConnection } from './answers/source-connection.js'
import type {
  AwsAccess,
  FileSettings,
  SourceSettings,
  StackdriverSettings,
} from './answers/source-settings.js'
import { azureTokenRequest, azureTokenUrl, makeTokenAuthorization } from './tokens/token-authorization.js'
import { googleTokenRequest, metadataTokenRequest, readServiceAccount } from './tokens/google-token.js'
import { makeSharedAuthorization } from './tokens/shared-authorization.js'

/** A source that is queried over the network. */
export type ServerSettings = Exclude<SourceSettings, FileSettings>

type Connect = (url: string, timeoutMs?: number) => SourceConnection

/** Timeout of metadata services on the machine itself, in milliseconds. */
const PLATFORM_TIMEOUT_MS = 5000

/** The parts that connect a source. */
export interface SourceConnectionParts extends ConnectionParts {
  /** Sends requests for credentials, including those to metadata services. */
  readonly signInClient: OutboundClient
}

/** The connection to the server of a source, with its kind of credentials. */
export function connectSource(settings: ServerSettings, parts: SourceConnectionParts): SourceConnection {
  const { name, url } = settings
  const tenant = 'tenant' in settings ? settings.tenant : undefined
  const headers = {
    ...('credentials' in settings ? authHeaders(settings.credentials) : {}),
    ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
  }
  const authorize = authorizingOf(settings, parts)
  return makeSourceConnection({ name, url, headers, authorize, ...limitsOf(settings) }, parts)
}

function limitsOf({
  timeoutSeconds,
  maxResponseBytes,
}: ServerSettings): Pick<ConnectionSettings, 'requestTimeoutMs' | 'maxResponseBytes'> {
  return { requestTimeoutMs: timeoutSeconds * 1000, maxResponseBytes }
}

function authorizingOf(
  settings: ServerSettings,
  parts: SourceConnectionParts,
): ConnectionSettings['authorize'] {
  const connect: Connect = (url, timeoutMs = Infinity) => {
    const { requestTimeoutMs, maxResponseBytes } = limitsOf(settings)
    const limits = { requestTimeoutMs: Math.min(timeoutMs, requestTimeoutMs), maxResponseBytes }
    return makeSourceConnection(
      { name: `${settings.name} (its sign-in)`, url, headers: {}, ...limits },
      { ...parts, client: parts.signInClient },
    )
  }
  switch (settings.type) {
    // Services by the names that Amazon's signatures know them by.
    case 'cloudwatch':
      return authorizeForAws(settings, 'monitoring', connect, parts)
    case 'cloudwatchlogs':
      return authorizeForAws(settings, 'logs', connect, parts)
    case 'azure': {
      const connection = connect(azureTokenUrl(settings.signIn))
      return makeTokenAuthorization(connection, () => azureTokenRequest(settings), parts.now)
    }
    case 'stackdriver':
      return authorizeForGoogle(settings, connect, parts)
    default:
      return undefined
  }
}

function authorizeForGoogle(
  { name, serviceAccountFrom: from, serviceAccount, tokenUrl }: StackdriverSettings,
  connect: Connect,
  { now, timeOfDay }: ConnectionParts,
): ConnectionSettings['authorize'] {
  if (from !== undefined) {
    return makeTokenAuthorization(
      connect(from.url, PLATFORM_TIMEOUT_MS),
      () => metadataTokenRequest(from),
      now,
    )
  }
  if (serviceAccount === undefined) return undefined
  const account = readServiceAccount(serviceAccount)
  if (typeof account === 'string') return () => Promise.resolve(`${name}: ${account}`)
  // The key file's own URL is the audience of the statement, whatever the route to it is.
  const connection = connect(tokenUrl ?? account.tokenUrl)
  return makeTokenAuthorization(connection, () => googleTokenRequest(account, timeOfDay()), now)
}

function authorizeForAws(
  { region, accessKeyFrom: from, accessKeyId, secretAccessKey, sessionToken }: AwsAccess,
  service: string,
  connect: Connect,
  { timeOfDay }: ConnectionParts,
): ConnectionSettings['authorize'] {
  if (from !== undefined) {
    const connection = connect(from.url, from.type === 'web-identity' ? undefined : PLATFORM_TIMEOUT_MS)
    return makeSharedAuthorization(async (deadline) => {
      const keys = await fetchAwsKeys(from, connection, deadline)
      if (typeof keys === 'string') return keys
      return { sign: signForAws(keys, { region, service }, timeOfDay), untilMs: keys.untilMs }
    }, timeOfDay)
  }
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const sign = signForAws({ accessKeyId, secretAccessKey, sessionToken }, { region, service }, timeOfDay)
  return () => Promise.resolve(sign)
}
