import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { Builtin, BuiltinTable } from './builtin.js'
import type { WorkMeter } from '../../metering/work-meter.js'

/** Cost in evaluation steps of the call itself. */
const CALL_STEPS = 20
/** Default steps per character of the operands. */
const DEFAULT_STEPS = 3
/** Cost in evaluation steps for tokens, which are JSON in base64. */
const TOKEN_STEPS = 15

/**
 * Steps (of 10 ns) per character of the operands: the maximum measured for operands of 0.1 to 4 MB,
 * including the quoting of an invalid operand in an error. Built-ins that are not linear charge for
 * the rest themselves.
 */
const STEPS_PER_CHARACTER: Readonly<Record<string, number>> = {
  'base64url.encode_no_pad': 0.2,
  cast_set: 10,
  'crypto.hmac.equal': 0.5,
  'crypto.hmac.md5': 0.5,
  'crypto.hmac.sha1': 0.5,
  'crypto.hmac.sha256': 0.5,
  'crypto.hmac.sha512': 0.5,
  'crypto.md5': 0.5,
  'crypto.parse_private_keys': 20,
  'crypto.sha1': 0.5,
  'crypto.sha256': 0.5,
  'crypto.x509.parse_and_verify_certificates': 25,
  'crypto.x509.parse_and_verify_certificates_with_options': 25,
  'crypto.x509.parse_certificate_request': 25,
  'crypto.x509.parse_certificates': 25,
  'crypto.x509.parse_keypair': 25,
  'crypto.x509.parse_rsa_private_key': 20,
  'glob.quote_meta': 15,
  'graph.reachable_paths': 20,
  'graphql.is_valid': 6,
  'graphql.parse': 6,
  'graphql.parse_and_verify': 6,
  'graphql.parse_query': 6,
  'graphql.parse_schema': 6,
  'graphql.schema_is_valid': 6,
  'hex.decode': 0.5,
  'hex.encode': 0.5,
  'json.marshal': 16,
  'json.marshal_with_options': 8,
  'json.match_schema': 60,
  'json.verify_schema': 60,
  'net.cidr_merge': 70,
  'object.subset': 20,
  'providers.aws.sign_req': 10,
  'regex.find_n': 0.2,
  'regex.globs_match': 50,
  'regex.replace': 0.2,
  'regex.split': 0.2,
  'regex.template_match': 5,
  'semver.compare': 60,
  'semver.is_valid': 5,
  sprintf: 0.5,
  'strings.any_prefix_match': 1,
  'strings.any_suffix_match': 1,
  'strings.count': 1,
  'strings.render_template': 25,
  'time.format': 30,
  'time.parse_duration_ns': 40,
  'time.parse_ns': 40,
  'time.parse_rfc3339_ns': 40,
  'urlquery.decode': 6,
  'urlquery.decode_object': 45,
  'urlquery.encode': 12,
  'urlquery.encode_object': 20,
  'yaml.is_valid': 5,
  'yaml.marshal': 30,
  'yaml.unmarshal': 5,
}

/** Wraps built-ins so that each call charges for its operands first. */
export function withCallCosts(table: BuiltinTable): BuiltinTable {
  return Object.fromEntries(
    Object.entries(table).map(([name, builtin]) => [
      name,
      charged(
        builtin,
        STEPS_PER_CHARACTER[name] ?? (name.startsWith('io.jwt.') ? TOKEN_STEPS : DEFAULT_STEPS),
      ),
    ]),
  )
}

function charged(builtin: Builtin, stepsPerCharacter: number): Builtin {
  return (args, context) => {
    context.meter.spend(CALL_STEPS + lengthOf(args) * stepsPerCharacter)
    return builtin(args, context)
  }
}

/** Returns the approximate length of a value as text. */
export function lengthOf(value: RegoValue): number {
  if (typeof value === 'string') return value.length
  if (value === null || typeof value === 'boolean') return 1
  if (value instanceof RegoNumber) return value.text.length
  let length = 1
  if (value instanceof RegoObject) {
    for (const [key, member] of value.entries) length += lengthOf(key) + lengthOf(member) + 1
    return length
  }
  for (const member of value instanceof RegoSet ? value.members : value) length += lengthOf(member) + 1
  return length
}

/**
 * Maximum length of a text that one built-in call may create, in UTF-16 units: above the needs of
 * policies and far below the heap size.
 */
const MAX_RESULT_LENGTH = 16 * 1024 * 1024

/** Ends the evaluation if a result of this length exceeds the maximum. */
export function ensureResultLength(length: number, meter: WorkMeter): void {
  if (length > MAX_RESULT_LENGTH) {
    meter.exceed(`a built-in returns a string of more than ${MAX_RESULT_LENGTH} characters`)
  }
}
