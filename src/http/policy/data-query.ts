import type { Exchange } from '../exchange/exchange.js'
import { trimTrailing } from '../../lib/text/trim-characters.js'
import { AppError } from '../../errors/app-error.js'
import { EXPLAIN_MODES, parseDataPath } from '../../rego/index.js'
import type { ExplainMode } from '../../rego/index.js'
import { scanSpace, scanValue } from '../../lib/json/scan/scan-value.js'
import type { PolicyContext } from './decision.js'

/** Query parameters of the Data API (OPA documentation, "Data API"). */
export interface DataQuery {
  readonly pretty: boolean
  readonly metrics: boolean
  readonly provenance: boolean
  readonly explain: ExplainMode | undefined
  readonly strictBuiltinErrors: boolean
  /** Raw input document of a GET. */
  readonly input: string | undefined
}

const NONE: DataQuery = {
  pretty: false,
  metrics: false,
  provenance: false,
  explain: undefined,
  strictBuiltinErrors: false,
  input: undefined,
}

/** Returns the query parameters; undefined if there are none. */
export function searchParams({ target: { query } }: Exchange): URLSearchParams | undefined {
  return query === undefined ? undefined : new URLSearchParams(query)
}

/** Parses the query. A flag is on if it is empty or `true`, in any case. */
export function parseDataQuery(query: URLSearchParams | undefined): DataQuery {
  if (query === undefined) return NONE
  const isOn = (name: string): boolean =>
    query.getAll(name).some((value) => ['', 'true'].includes(value.toLowerCase()))
  return {
    pretty: isOn('pretty'),
    metrics: isOn('metrics') || isOn('instrument'),
    provenance: isOn('provenance'),
    explain: EXPLAIN_MODES.find((mode) => mode === query.get('explain')),
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
  return trimTrailing(named, '/')
}

/** Prefixes of errors. */
const BODY = 'unexpected parse error for input: body contains'
const PARAMETER = 'parameter contains'
const NULL_INPUT = Buffer.from('null')

/** Parses a body that is the input itself. An empty body is null, as in OPA. Raises `invalid`. */
export async function parseInputBody(
  context: PolicyContext,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Uint8Array> {
  const json = await yamlToJson(context, exchange, body, BODY)
  return scanSpace(json, 0) === json.length ? NULL_INPUT : json.subarray(0, scanInput(json, BODY))
}

/** Parses the `input` parameter of a GET. Raises `invalid` for anything after the document. */
export function parseInputParameter(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  if (scanSpace(bytes, 0) === bytes.length) throw malformedInput(PARAMETER, 'EOF')
  const end = scanInput(bytes, PARAMETER)
  const rest = scanSpace(bytes, end)
  if (rest === bytes.length) return bytes.subarray(0, end)
  const next = bytes.toString('utf8', rest).charAt(0)
  throw malformedInput(PARAMETER, `error: invalid character '${next}' after top-level value`)
}

function scanInput(bytes: Uint8Array, errorPrefix: string): number {
  try {
    return scanValue(bytes, 0)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw malformedInput(errorPrefix, cause.message, cause)
  }
}

function malformedInput(prefix: string, reason: string, cause?: AppError): AppError {
  return new AppError('invalid', `${prefix} malformed input document: ${reason}`, { cause })
}

/** Maximum size of a YAML body. YAML parsers are a thousand times slower than JSON parsers. */
const MAX_YAML_BYTES = 256 * 1024

/**
 * Returns the body as JSON. A body with a YAML type is parsed as JSON first, as in OPA, and
 * otherwise converted on another thread; other types count as JSON. Raises `invalid`, with
 * `errorPrefix`, for malformed YAML, and `too_large` for YAML over 256 KiB or over the output
 * limit.
 */
export async function yamlToJson(
  { readYaml, maxBodyBytes }: Pick<PolicyContext, 'readYaml' | 'maxBodyBytes'>,
  exchange: Exchange,
  body: Uint8Array,
  errorPrefix = 'body contains',
): Promise<Uint8Array> {
  if (exchange.header('content-type')?.includes('yaml') !== true || isJson(body)) return body
  if (body.length > MAX_YAML_BYTES) {
    throw new AppError(
      'too_large',
      `a YAML body may have ${MAX_YAML_BYTES} bytes, this one has ${body.length}; send it as JSON`,
    )
  }
  try {
    return Buffer.from(await readYaml(Buffer.from(body).toString(), maxBodyBytes))
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
    throw malformedInput(errorPrefix, error.message, error)
  }
}

function isJson(body: Uint8Array): boolean {
  try {
    return scanSpace(body, scanValue(body, 0)) === body.length
  } catch {
    return false
  }
}
