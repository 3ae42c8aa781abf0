import type { Exchange } from '../exchange/exchange.js'
import { trimLastSigns } from '../../lib/text/trim-signs.js'
import { AppError } from '../../errors/app-error.js'
import { parseDataPath } from '../../rego/index.js'

/** Query parameters of the Data API (OPA documentation, "Data API"). */
export interface DataQuery {
  readonly pretty: boolean
  readonly metrics: boolean
  readonly provenance: boolean
  readonly explain: boolean
  readonly strictBuiltinErrors: boolean
  /** Raw input document of a GET. */
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

/** Returns the query parameters; undefined if there are none. */
export function searchParams({ target: { query } }: Exchange): URLSearchParams | undefined {
  return query === undefined ? undefined : new URLSearchParams(query)
}

const EXPLAIN_MODES: readonly string[] = ['notes', 'fails', 'full', 'debug']

/** Parses the query. A flag is on if it is empty or `true`, in any case. */
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

/** A gateway may post to this literal path and name the real one in the query. */
const LITERAL_PATHS: readonly string[] = ['**', '%2A%2A', '%2a%2a']

/**
 * Returns the data path of a request under `/v1/data/`. Raises `invalid` if the literal path `**`
 * comes without a valid `requestUri`.
 */
export function resolveDataPath(rawPath: string, query: URLSearchParams | undefined): string {
  if (!LITERAL_PATHS.includes(rawPath)) return rawPath
  const requestUri = query?.get('requestUri') ?? ''
  const path = requestUri.replace(/^(?:https?:\/\/[^/]+)?\/+/, '/').replace(/[?#].*$/, '')
  const named = /^\/v1\/data\/(?<rest>.+)$/.exec(path)?.groups?.['rest']
  if (named === undefined || parseDataPath(named).includes('..')) {
    throw new AppError(
      'invalid',
      'requestUri must name a policy under /v1/data/, as in ?requestUri=/v1/data/app/deny',
    )
  }
  return trimLastSigns(named, '/')
}
