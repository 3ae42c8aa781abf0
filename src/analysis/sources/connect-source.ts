import { authHeaders } from '../../lib/outbound/credentials.js'
import { signForAws } from './answers/sign-for-aws.js'
import { makeSourceConnection } from './answers/source-connection.js'
import type { ConnectionParts, ConnectionSettings, SourceConnection } from './answers/source-connection.js'
import type { FileSettings, SourceSettings } from './answers/source-settings.js'
import { azureTokenRequest, azureTokenUrl } from './tokens/azure-token.js'
import { googleTokenRequest, readServiceAccount } from './tokens/google-token.js'
import { makeTokenAuthorization } from './tokens/token-authorization.js'

/** A source that is asked over the network. */
export type ServerSettings = Exclude<SourceSettings, FileSettings>

/** The connection to the server of a source, with the credentials that it asks for in its way. */
export function connectSource(settings: ServerSettings, parts: ConnectionParts): SourceConnection {
  const { name, url } = settings
  const tenant = 'tenant' in settings ? settings.tenant : undefined
  const headers = {
    ...('credentials' in settings ? authHeaders(settings.credentials) : {}),
    ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
  }
  const signing = { sign: signingOf(settings, parts), authorize: authorizingOf(settings, parts) }
  return makeSourceConnection({ name, url, headers, ...signing, ...limitsOf(settings) }, parts)
}

function limitsOf({
  timeoutSeconds,
  maxResponseBytes,
}: ServerSettings): Pick<ConnectionSettings, 'requestTimeoutMs' | 'maxResponseBytes'> {
  return { requestTimeoutMs: timeoutSeconds * 1000, maxResponseBytes }
}

/** By the names that Amazon's signatures know the services by. */
function signingOf(settings: ServerSettings, { timeOfDay }: ConnectionParts): ConnectionSettings['sign'] {
  if (settings.type === 'cloudwatch') return signForAws(settings, 'monitoring', timeOfDay)
  return settings.type === 'cloudwatchlogs' ? signForAws(settings, 'logs', timeOfDay) : undefined
}

function authorizingOf(settings: ServerSettings, parts: ConnectionParts): ConnectionSettings['authorize'] {
  const name = `${settings.name} (its sign-in)`
  const connect = (url: string): SourceConnection =>
    makeSourceConnection({ name, url, headers: {}, ...limitsOf(settings) }, parts)
  if (settings.type === 'azure') {
    const connection = connect(azureTokenUrl(settings.signIn))
    return makeTokenAuthorization(connection, () => azureTokenRequest(settings), parts.now)
  }
  if (settings.type !== 'stackdriver') return undefined
  const account = readServiceAccount(settings.serviceAccount)
  if (typeof account === 'string') return () => Promise.resolve(`${settings.name}: ${account}`)
  const { tokenUrl = account.tokenUrl } = settings
  // The key file's own URL is what the statement is for, whichever way leads there.
  return makeTokenAuthorization(
    connect(tokenUrl),
    () => googleTokenRequest(account, parts.timeOfDay()),
    parts.now,
  )
}
