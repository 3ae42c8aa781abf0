import { trimLastSigns } from '../../lib/text/trim-signs.js'
import { AppError } from '../../errors/app-error.js'
import { parseDataPath } from '../../rego/index.js'

/** The gateway in front of the policy stage posts to the literal path and names the real one in the query. */
const LITERAL_PATHS: readonly string[] = ['**', '%2A%2A', '%2a%2a']

/**
 * The data path below `/v1/data/` that a request means. Raises `invalid` when the literal path `**` comes without a
 * `requestUri` that stays below `/v1/data/`.
 */
export function resolveDataPath(rawPath: string, query: URLSearchParams | undefined): string {
  if (!LITERAL_PATHS.includes(rawPath)) return rawPath
  const requestUri = query?.get('requestUri') ?? ''
  const path = requestUri.replace(/^(?:https?:\/\/[^/]+)?\/+/, '/').replace(/[?#].*$/, '')
  const named = /^\/v1\/data\/(?<rest>.+)$/.exec(path)?.groups?.['rest']
  if (named === undefined || parseDataPath(named).includes('..')) {
    throw new AppError(
      'invalid',
      'requestUri must name a policy below /v1/data/, as in ?requestUri=/v1/data/app/deny',
    )
  }
  return trimLastSigns(named, '/')
}
