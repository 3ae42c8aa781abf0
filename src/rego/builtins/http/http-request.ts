import { trimCharacters } from '../../../lib/text/trim-characters.js'
import { printGoJson } from '../../values/print-go-json.js'
import { displayText } from '../go-format/display-text.js'
import { goInteger } from '../../values/go-integer.js'
import { RegoNumber, RegoObject, RegoSet, typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray, objectOperand } from '../shared/operands.js'
import { parseDuration } from '../time/parse-duration.js'
import { readCaching } from './http-caching.js'
import type { Caching } from './http-caching.js'

/** A request of `http.send`. */
export interface PolicyRequest {
  readonly method: string
  readonly url: string
  /** Names in the policy's spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** Timeout in milliseconds, Infinity for none; undefined for the sender's default. */
  readonly timeoutMs: number | undefined
  readonly followsRedirects: boolean
  readonly maxRetries: number
  readonly tls: RequestTls
  readonly caching: Caching
}

/** TLS settings: trusted authorities and the client certificate. */
export interface RequestTls {
  /** PEM. */
  readonly ca: string | undefined
  readonly usesSystemCertificates: boolean
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly serverName: string | undefined
}

const NS_PER_MS = 1_000_000
const REQUIRED: readonly string[] = ['method', 'url']
const TEXTS: readonly string[] = [
  ...['method', 'url', 'raw_body', 'tls_server_name'],
  ...['tls_ca_cert', 'tls_ca_cert_file', 'tls_ca_cert_env_variable'],
  ...['tls_client_cert', 'tls_client_cert_file', 'tls_client_cert_env_variable'],
  ...['tls_client_key', 'tls_client_key_file', 'tls_client_key_env_variable'],
]
const OTHERS: readonly string[] = [
  ...['body', 'headers', 'enable_redirect', 'timeout', 'raise_error', 'max_retry_attempts'],
  ...['cache', 'force_cache', 'force_cache_duration_seconds', 'caching_mode', 'cache_ignored_headers'],
  ...['force_json_decode', 'force_yaml_decode', 'tls_use_system_certs', 'tls_insecure_skip_verify'],
]
const PARAMETERS = new Set<RegoValue>([...TEXTS, ...OTHERS])

/** Returns true (the default) if failures raise errors. Throws BuiltinError. */
export function raisesErrors(parameters: RegoObject): boolean {
  const value = parameters.get('raise_error') ?? true
  return typeof value === 'boolean' ? value : fail('invalid value for raise_error field')
}

/** Returns the request parameters. Throws OPA's errors for unknown or missing ones. */
export function readParameters(args: readonly RegoValue[]): RegoObject {
  const object = objectOperand(args, 0)
  const unknown = object.entries.map(([key]) => key).filter((key) => !PARAMETERS.has(key))
  if (unknown.length > 0) wrongKeys('invalid', unknown)
  const missing = REQUIRED.filter((name) => object.get(name) === undefined)
  if (missing.length > 0) wrongKeys('missing required', missing)
  return object
}

/** Creates the request from checked parameters. Throws BuiltinError with OPA's messages. */
export function readRequest(parameters: RegoObject): PolicyRequest {
  const caching = readCaching(parameters)
  for (const name of TEXTS) {
    const value = parameters.get(name)
    if (value !== undefined && typeof value !== 'string') fail(`"${name}" must be a string`)
  }
  const body = parameters.get('body')
  return {
    method: (textOf(parameters, 'method') ?? '').toUpperCase(),
    url: textOf(parameters, 'url') ?? '',
    headers: readHeaders(parameters.get('headers')),
    body: textOf(parameters, 'raw_body') ?? (body === undefined ? '' : printGoJson(body)),
    timeoutMs: readTimeout(parameters.get('timeout')),
    followsRedirects: parseBoolean(parameters.get('enable_redirect')),
    maxRetries: readCount(parameters.get('max_retry_attempts')),
    tls: {
      ca: textOf(parameters, 'tls_ca_cert')?.replaceAll('\\n', '\n'),
      usesSystemCertificates: parseBoolean(parameters.get('tls_use_system_certs')),
      certificate: textOf(parameters, 'tls_client_cert'),
      key: textOf(parameters, 'tls_client_key'),
      serverName: textOf(parameters, 'tls_server_name'),
    },
    caching,
  }
}

/** Returns the parameters that identify a request. */
export function identityOf(parameters: RegoObject): RegoObject {
  const ignored = parameters.get('cache_ignored_headers')
  const headers = parameters.get('headers')
  if (ignored === undefined || ignored === null || !(headers instanceof RegoObject)) return parameters
  const names = isArray(ignored) ? ignored : ignored instanceof RegoSet ? ignored.members : []
  const kept = headers.entries.filter(([name]) => !names.includes(name))
  return new RegoObject([
    ...parameters.entries.filter(([key]) => key !== 'cache_ignored_headers'),
    ['headers', new RegoObject(kept)],
  ])
}

/**
 * Returns the known parameters that are not supported, because they would read the service's files
 * or environment, or disable TLS verification.
 */
export function unsupportedParameters(parameters: RegoObject): readonly string[] {
  return parameters.entries.flatMap(([key, value]) => {
    const name = typeof key === 'string' ? key : ''
    const isRead = /_(?:file|env_variable)$/.test(name)
    return isRead || (name === 'tls_insecure_skip_verify' && parseBoolean(value)) ? [name] : []
  })
}

/** Removes quotes around a text. */
function textOf(parameters: RegoObject, name: string): string | undefined {
  const value = parameters.get(name)
  return typeof value === 'string' ? trimCharacters(value, '"') : undefined
}

function readHeaders(value: RegoValue | undefined): PolicyRequest['headers'] {
  if (value === undefined) return []
  if (!(value instanceof RegoObject)) return fail('invalid type for headers key')
  return value.entries.map(([name, text]) => {
    if (typeof text !== 'string') return fail(`invalid type for headers value ${displayText(text)}`)
    return [typeof name === 'string' ? name : displayText(name), text] as const
  })
}

/** Parses like Go's strconv.ParseBool of the JSON text, which refuses quoted strings. */
function parseBoolean(value: RegoValue | undefined): boolean {
  if (value === undefined) return false
  const text = displayText(value)
  if (/^(?:1|true)$/.test(text)) return true
  return /^(?:0|false)$/.test(text)
    ? false
    : fail(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`)
}

function readCount(value: RegoValue | undefined): number {
  if (value === undefined) return 0
  const count = value instanceof RegoNumber ? goInteger(value.text) : undefined
  if (count === undefined || count < 0n)
    return fail(`invalid value ${displayText(value)} for field "max_retry_attempts"`)
  return Number(count)
}

/** Numbers, and texts without a unit, are in nanoseconds. As in Go, zero or less means no limit. */
function readTimeout(value: RegoValue | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!(typeof value === 'string' || value instanceof RegoNumber)) {
    throw new BuiltinError(
      `operand 1 'timeout' must be one of {string, number} but got ${typeName(value)}`,
      'eval_type_error',
    )
  }
  const number = goInteger(typeof value === 'string' ? value : value.text)
  if (number === undefined && typeof value !== 'string')
    return fail(`invalid timeout number value ${value.text}, must be int64`)
  const ns = number ?? readDuration(typeof value === 'string' ? value : value.text)
  return ns <= 0n ? Infinity : Math.max(1, Number(ns) / NS_PER_MS)
}

function readDuration(text: string): bigint {
  try {
    return parseDuration(text)
  } catch (raw) {
    if (!(raw instanceof BuiltinError)) throw raw
    return fail(`invalid timeout value ${displayText(text)}: ${raw.message}`)
  }
}

function wrongKeys(how: string, names: readonly RegoValue[]): never {
  const shown = displayText(new RegoSet(names))
  throw new BuiltinError(`operand 1 ${how} request parameters(s): ${shown}`, 'eval_type_error')
}

function fail(message: string): never {
  throw new BuiltinError(message)
}
