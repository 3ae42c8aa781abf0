import type { Exchange } from '../exchange/exchange.js'
import { trimLastSigns } from '../../lib/text/trim-signs.js'
import { AppError } from '../../errors/app-error.js'
import { parseDataPath } from '../../rego/index.js'

/** The query parameters of the Data API (OPA documentation, "Data API"). */
export interface DataQuery {
  readonly pretty: boolean
  readonly metrics: boolean
  readonly provenance: boolean
  readonly explain: boolean
  readonly strictBuiltinErrors: boolean
  /** The raw input document of a GET. */
  readonly input: string | undefined
}

const NONE: DataQuery = {
  pretty: false,
  metrics: false,
  provenance: false,
  explain: false,
  strictBuiltinErrors: false,
  input: undefined,
}

/** The parameters of a request; undefined where it has none. */
export function searchParams({ target: { query } }: Exchange): URLSearchParams | undefined {
  return query === undefined ? undefined : new URLSearchParams(query)
}

const EXPLAIN_MODES: readonly string[] = ['notes', 'fails', 'full', 'debug']

/** Reads them from a parsed query; a boolean is on with its bare name or `true` in any letter case, off otherwise. */
export function parseDataQuery(query: URLSearchParams | undefined): DataQuery {
  if (query === undefined) return NONE
  const isOn = (name: string): boolean =>
    query.getAll(name).some((value) => ['', 'true'].includes(value.toLowerCase()))
  return {
    pretty: isOn('pretty'),
    metrics: isOn('metrics') || isOn('instrument'),
    provenance: isOn('provenance'),
    explain: EXPLAIN_MODES.includes(query.get('explain') ?? ''),
    strictBuiltinErrors: isOn('strict-builtin-errors'),
    input: query.getAll('input').at(-1),
  }
}

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
