import { printRegoText } from '../values/print-text.js'
import { RegoNumber, RegoObject, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { signatureHeaders } from '../../lib/outbound/aws-signature.js'
import type { AwsCredentials } from '../../lib/outbound/aws-signature.js'
import { BuiltinError } from './shared/builtin.js'
import type { BuiltinTable } from './shared/builtin.js'
import { parseGoUrl } from './encoding/go-url.js'
import { printGoJson } from '../values/print-go-json.js'
import { int64Operand, objectOperand, operand, wrongType } from './shared/operands.js'

type Args = readonly RegoValue[]

/** The built-ins for AWS. */
export const awsBuiltins: BuiltinTable = {
  'providers.aws.sign_req': signRequest,
}

const REQUIRED_CONFIG = ['aws_access_key', 'aws_region', 'aws_secret_access_key', 'aws_service']
const REQUIRED_REQUEST = ['method', 'url']
/** The request fields that http.send accepts. */
const REQUEST_FIELDS: ReadonlySet<RegoValue> = new Set([
  ...REQUIRED_REQUEST,
  'body',
  'cache',
  'cache_ignored_headers',
  'caching_mode',
  'enable_redirect',
  'force_cache',
  'force_cache_duration_seconds',
  'force_json_decode',
  'force_yaml_decode',
  'headers',
  'max_retry_attempts',
  'raise_error',
  'raw_body',
  'timeout',
  'tls_ca_cert',
  'tls_ca_cert_env_variable',
  'tls_ca_cert_file',
  'tls_client_cert',
  'tls_client_cert_env_variable',
  'tls_client_cert_file',
  'tls_client_key',
  'tls_client_key_env_variable',
  'tls_client_key_file',
  'tls_insecure_skip_verify',
  'tls_server_name',
  'tls_use_system_certs',
])

/** `providers.aws.sign_req(request, config, time_ns)`: adds signature headers to the request. */
function signRequest(args: Args): RegoValue {
  const request = objectOperand(args, 0)
  const credentials = readCredentials(configOf(args))
  const timeNs = signingTime(args)
  checkRequest(request)
  const headers = readHeaders(request.get('headers'))
  const url = parseGoUrl(textOf(request.get('url')))
  const signsPayload = !disablesPayloadSigning(configOf(args))
  const signed = { method: textOf(request.get('method')), url, headers, body: bodyOf(request) }
  const added = signatureHeaders(signed, credentials, { timeNs, signsPayload })
  return new RegoObject([...request.entries, ['headers', new RegoObject([...headers, ...added])]])
}

/** OPA's errors name the first operand even for the second and third. */
function configOf(args: Args): RegoObject {
  const config = operand(args, 1)
  return config instanceof RegoObject ? config : wrongType(0, config, 'object')
}

function signingTime(args: Args): bigint {
  const time = operand(args, 2)
  if (!(time instanceof RegoNumber)) return wrongType(0, time, 'number')
  try {
    return int64Operand(args, 2)
  } catch {
    throw badOperand('operand 3 could not convert time_ns value into a unix timestamp')
  }
}

function readCredentials(config: RegoObject): AwsCredentials {
  rejectNames(missing(config, REQUIRED_CONFIG), 'operand 2 missing required AWS config parameters(s)')
  rejectNames(
    notTexts(config, REQUIRED_CONFIG),
    'operand 2 invalid values for required AWS config parameters(s)',
  )
  return {
    accessKey: textOf(config.get('aws_access_key')),
    secretKey: textOf(config.get('aws_secret_access_key')),
    region: textOf(config.get('aws_region')),
    service: textOf(config.get('aws_service')),
    sessionToken: textOf(config.get('aws_session_token')),
  }
}

function checkRequest(request: RegoObject): void {
  const unknown = request.entries.map(([name]) => name).filter((name) => !REQUEST_FIELDS.has(name))
  rejectNames(unknown, 'operand 1 invalid request parameters(s)')
  rejectNames(missing(request, REQUIRED_REQUEST), 'operand 1 missing required request parameters(s)')
  const headers = request.get('headers')
  if (headers !== undefined && !(headers instanceof RegoObject)) wrongType(-1, headers, 'object')
  rejectNames(
    notTexts(request, REQUIRED_REQUEST),
    'operand 1 invalid values for required request parameters(s)',
  )
}

function missing(source: RegoObject, names: readonly string[]): string[] {
  return names.filter((name) => source.get(name) === undefined)
}

function notTexts(source: RegoObject, names: readonly string[]): string[] {
  return names.filter((name) => typeof source.get(name) !== 'string')
}

function rejectNames(names: readonly RegoValue[], problem: string): void {
  if (names.length === 0) return
  const spoken = new RegoSet(names).members.map(printRegoText).join(', ')
  throw badOperand(`${problem}: {${spoken}}`)
}

function readHeaders(headers: RegoValue | undefined): Map<string, string> {
  const entries = headers instanceof RegoObject ? headers.entries : []
  return new Map(entries.map(([name, value]) => [textOf(name), textOf(value)]))
}

function bodyOf(request: RegoObject): string {
  const raw = request.get('raw_body')
  if (raw !== undefined) return textOf(raw)
  const body = request.get('body')
  return body === undefined ? '' : printGoJson(body)
}

function disablesPayloadSigning(config: RegoObject): boolean {
  const value = config.get('disable_payload_signing') ?? false
  if (typeof value === 'boolean') return value
  throw badOperand("operand 2 invalid value for 'disable_payload_signing' in AWS config")
}

/** Any other value counts as the empty string. */
function textOf(value: RegoValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function badOperand(message: string): BuiltinError {
  return new BuiltinError(message, 'eval_type_error')
}
