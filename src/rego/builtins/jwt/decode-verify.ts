import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoNumber, RegoObject, compareValues } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext } from '../shared/builtin.js'
import { isArray, objectOperand, stringOperand } from '../shared/operands.js'
import {
  decodePayload,
  readClaims,
  splitToken,
  decodeHeader,
  decodeSection,
  signingInput,
} from './compact-token.js'
import type { CompactToken } from './compact-token.js'
import { readConstraints } from './constraints.js'
import type { TokenConstraints } from './constraints.js'
import { readHeaderFields } from './header-fields.js'
import type { HeaderFields } from './header-fields.js'
import { isJwsAlgorithm, suitsAlgorithm, verifySignature } from './signature.js'
import { verifiesWithAny } from './verification-keys.js'

const NS_PER_SECOND = 1e9

interface VerifiedToken {
  readonly header: RegoObject
  readonly payload: RegoObject
}

/** `io.jwt.decode_verify`: `[true, header, payload]` when the signature and every constraint hold. */
export function decodeVerify(args: readonly RegoValue[], context: BuiltinContext): RegoValue {
  const constraints = readConstraints(objectOperand(args, 1), context)
  const token = verifyNested(stringOperand(args, 0), constraints, context.meter)
  if (token === undefined || !claimsHold(token.payload, constraints)) {
    return [false, new RegoObject([]), new RegoObject([])]
  }
  return [true, token.header, token.payload]
}

/** Unwraps a token whose content is a token (RFC 7519, 7.2): every layer must verify under the same keys. */
function verifyNested(
  outermost: string,
  constraints: TokenConstraints,
  meter: WorkMeter,
): VerifiedToken | undefined {
  let text = outermost
  for (;;) {
    const token = splitToken(text)
    const header = decodeHeader(token)
    const fields = readHeaderFields(header)
    if (!layerVerifies(token, fields, constraints, meter)) return undefined
    const payload = decodePayload(token)
    if (fields.cty.toLowerCase() !== 'jwt') return { header, payload: readClaims(payload) }
    text = payload.toString('utf8')
  }
}

function layerVerifies(
  token: CompactToken,
  fields: HeaderFields,
  constraints: TokenConstraints,
  meter: WorkMeter,
): boolean {
  const { alg } = fields
  if (alg === '' || !fields.understood) return false
  if (constraints.alg !== '' && constraints.alg !== alg) return false
  const signature = decodeSection(token.signature)
  if (!isJwsAlgorithm(alg)) return false

  const { trust } = constraints
  if (trust.kind === 'keys') return verifiesWithAny(trust.keys, alg, fields, token, signature, meter)
  if (!suitsAlgorithm(trust.secret, alg)) return false
  return verifySignature(alg, trust.secret, signingInput(token), signature, meter)
}

/** The registered claims of RFC 7519, 4.1 that OPA checks: iss, aud, exp and nbf. */
function claimsHold(payload: RegoObject, constraints: TokenConstraints): boolean {
  if (constraints.iss !== '' && payload.get('iss') !== constraints.iss) return false
  if (!audienceHolds(payload.get('aud'), constraints.aud)) return false
  const now = RegoNumber.of(constraints.timeNs / NS_PER_SECOND)
  const expiry = timeClaim(payload, 'exp')
  if (expiry !== undefined && compareValues(now, expiry) >= 0) return false
  const notBefore = timeClaim(payload, 'nbf')
  return notBefore === undefined || compareValues(now, notBefore) >= 0
}

/** A token that names an audience is good only for a caller who names it too. */
function audienceHolds(claim: RegoValue | undefined, wanted: string): boolean {
  if (claim === undefined) return wanted === ''
  return isArray(claim) ? claim.includes(wanted) : claim === wanted
}

function timeClaim(payload: RegoObject, name: string): RegoNumber | undefined {
  const value = payload.get(name)
  if (value === undefined || value instanceof RegoNumber) return value
  throw new BuiltinError(`${name} value must be a number`)
}
