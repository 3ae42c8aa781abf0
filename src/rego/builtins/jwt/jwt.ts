import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { trimCharacters } from '../../../lib/text/trim-characters.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { printGoJson } from '../../values/print-go-json.js'
import { compareValues, RegoNumber, RegoObject, typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { cannotUnmarshal, isJsonDocument, readJsonDocument } from '../encoding/json-document.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { isArray, objectOperand, stringOperand, operand } from '../shared/operands.js'
import {
  decodeHeader,
  decodePayload,
  decodeSection,
  readClaims,
  readHeaderFields,
  signingInput,
  splitToken,
  withContext,
} from './compact-token.js'
import type { CompactToken, HeaderFields } from './compact-token.js'
import { readJsonWebKeys } from './json-web-key.js'
import type { TokenKey } from './json-web-key.js'
import { isJwsAlgorithm, suitsAlgorithm, verifySignature, familyOf, makeSignature } from './signature.js'
import type { JwsAlgorithm, JwsFamily } from './signature.js'
import { readVerificationKeys, verifiesWithAny } from './verification-keys.js'

/** `io.jwt.encode_sign`: takes values; the token contains their compact JSON. */
function encodeSign(args: readonly RegoValue[], { meter }: BuiltinContext): RegoValue {
  const [headers, payload, jwk] = [0, 1, 2].map((index) => printGoJson(operand(args, index)))
  return signToken(headers ?? '', payload ?? '', jwk ?? '', meter)
}

/** `io.jwt.encode_sign_raw`: takes JSON texts; the token contains them byte for byte. */
function encodeSignRaw(args: readonly RegoValue[], { meter }: BuiltinContext): RegoValue {
  const jwk = stringOperand(args, 2)
  return signToken(stringOperand(args, 0), stringOperand(args, 1), jwk, meter)
}

function signToken(headers: string, payload: string, jwk: string, meter: WorkMeter): string {
  const key = readJsonWebKeys(jwk, meter)[0]?.key
  const { alg, typ } = readSigningHeaders(headers)
  const isJwt = typ === undefined || typ === 'JWT'
  if (isJwt && !isJsonDocument(Buffer.from(payload))) {
    throw new BuiltinError('type is JWT but payload is not JSON')
  }
  const token = { header: toBase64Url(headers), payload: toBase64Url(payload), signature: '' }
  const input = signingInput(token)
  const signature = makeSignature(alg, signingKey(key, alg), input, meter)
  return `${input.toString()}.${signature.toString('base64url')}`
}

interface SigningHeaders {
  readonly alg: JwsAlgorithm
  /** Undefined if it is not a string. */
  readonly typ: string | undefined
}

/** Reads the header fields that matter for signing. Others are signed unchanged. */
function readSigningHeaders(text: string): SigningHeaders {
  const headers = readHeaderDocument(text)
  const [alg, typ] = [headers.get('alg'), headers.get('typ')]
  if (typeof alg !== 'string') throw new BuiltinError(`missing or invalid 'alg' header: ${noText(alg)}`)
  if (!isJwsAlgorithm(alg)) throw new BuiltinError(`unknown JWS algorithm: ${alg}`)
  return { alg, typ: typeof typ === 'string' ? typ : undefined }
}

/** The error message of the libraries that OPA uses. */
function noText(value: RegoValue | undefined): string {
  if (value === undefined) return 'jwsbb: header "alg" not found'
  const kind = typeof value === 'boolean' ? String(value) : typeName(value)
  return `value doesn't contain string; it contains ${kind}`
}

/** The messages are those of OPA's conformance cases for releases after 0.70. */
function readHeaderDocument(text: string): RegoObject {
  const value = withContext("missing or invalid 'alg' header: cannot parse JSON", () => {
    if (text === '') throw new BuiltinError('cannot parse empty string')
    return readJsonDocument(Buffer.from(text), 'unmarshal')
  })
  if (value === null) return new RegoObject([])
  if (value instanceof RegoObject) return value
  throw cannotUnmarshal(value, 'value of type jws.StandardHeaders')
}

const WANTED_GO_TYPES: Readonly<Record<JwsFamily, string>> = {
  HS: '[]byte',
  RS: '*rsa.PrivateKey',
  PS: '*rsa.PrivateKey',
  ES: '*ecdsa.PrivateKey',
  Ed: 'ed25519.PrivateKey',
}

function signingKey(key: KeyObject | undefined, algorithm: JwsAlgorithm): KeyObject {
  if (key === undefined) throw new BuiltinError('failed to generate key: failed to generate key from JWK')
  if (key.type === 'public' || !suitsAlgorithm(key, algorithm)) {
    const wanted = WANTED_GO_TYPES[familyOf(algorithm)]
    throw new BuiltinError(`failed to sign Payload: invalid key type ${goTypeOf(key)}. ${wanted} is required`)
  }
  if (key.symmetricKeySize === 0) {
    throw new BuiltinError('failed to sign Payload: missing key while signing payload')
  }
  return key
}

function goTypeOf(key: KeyObject): string {
  const side = key.type === 'public' ? 'PublicKey' : 'PrivateKey'
  switch (key.asymmetricKeyType) {
    case undefined:
      return '[]uint8'
    case 'rsa':
      return `*rsa.${side}`
    case 'ec':
      return `*ecdsa.${side}`
    default:
      return `ed25519.${side}`
  }
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** JSON web tokens, including `io.jwt.verify_eddsa` of releases after OPA 0.70. */
export const jwtBuiltins: BuiltinTable = {
  'io.jwt.decode': decode,
  'io.jwt.decode_verify': decodeVerify,
  'io.jwt.encode_sign': encodeSign,
  'io.jwt.encode_sign_raw': encodeSignRaw,
  'io.jwt.verify_hs256': verifyWithSecret('HS256'),
  'io.jwt.verify_hs384': verifyWithSecret('HS384'),
  'io.jwt.verify_hs512': verifyWithSecret('HS512'),
  'io.jwt.verify_rs256': verifyWithKeys('RS256'),
  'io.jwt.verify_rs384': verifyWithKeys('RS384'),
  'io.jwt.verify_rs512': verifyWithKeys('RS512'),
  'io.jwt.verify_ps256': verifyWithKeys('PS256'),
  'io.jwt.verify_ps384': verifyWithKeys('PS384'),
  'io.jwt.verify_ps512': verifyWithKeys('PS512'),
  'io.jwt.verify_es256': verifyWithKeys('ES256'),
  'io.jwt.verify_es384': verifyWithKeys('ES384'),
  'io.jwt.verify_es512': verifyWithKeys('ES512'),
  'io.jwt.verify_eddsa': verifyWithKeys('EdDSA'),
}

/** Returns `[header, payload, signature in hex]` of the innermost token without verification. */
function decode(args: readonly RegoValue[]): RegoValue {
  let text = stringOperand(args, 0)
  for (;;) {
    const token = splitToken(text)
    const header = decodeHeader(token)
    const payload = decodePayload(token)
    if (header.get('cty') !== 'JWT') {
      const claims = readClaims(payload)
      const signature = withContext('JWT signature had invalid encoding', () =>
        decodeSection(token.signature),
      )
      return [header, claims, signature.toString('hex')]
    }
    // A nested token may be a JSON string; its quotes are removed.
    text = trimCharacters(payload.toString('utf8'), `"'`)
  }
}

/** The function's name determines the algorithm. The token's header is ignored. */
function verifyWithSecret(algorithm: JwsAlgorithm): Builtin {
  return (args, { meter }) => {
    const text = stringOperand(args, 0)
    const secret = createSecretKey(Buffer.from(stringOperand(args, 1)))
    const token = splitToken(text)
    return verifySignature(algorithm, secret, signingInput(token), decodeSection(token.signature), meter)
  }
}

function verifyWithKeys(algorithm: JwsAlgorithm): Builtin {
  return (args, { meter }) => {
    const token = splitToken(stringOperand(args, 0))
    const keys = readVerificationKeys(stringOperand(args, 1), meter)
    const signature = decodeSection(token.signature)
    const fields = readHeaderFields(decodeHeader(token))
    return verifiesWithAny(keys, algorithm, fields, token, signature, meter)
  }
}

const NS_PER_SECOND = 1e9

interface VerifiedToken {
  readonly header: RegoObject
  readonly payload: RegoObject
}

/** `io.jwt.decode_verify`: returns `[true, header, payload]` if all checks pass. */
function decodeVerify(args: readonly RegoValue[], context: BuiltinContext): RegoValue {
  const constraints = readConstraints(objectOperand(args, 1), context)
  const token = verifyNested(stringOperand(args, 0), constraints, context.meter)
  if (token === undefined || !claimsHold(token.payload, constraints)) {
    return [false, new RegoObject([]), new RegoObject([])]
  }
  return [true, token.header, token.payload]
}

/** Unwraps nested tokens (RFC 7519, 7.2). All layers must verify with the same keys. */
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
  if (alg === '' || !fields.areCriticalFieldsKnown) return false
  if (constraints.alg !== '' && constraints.alg !== alg) return false
  const signature = decodeSection(token.signature)
  if (!isJwsAlgorithm(alg)) return false

  const { trust } = constraints
  if (trust.kind === 'keys') return verifiesWithAny(trust.keys, alg, fields, token, signature, meter)
  if (!suitsAlgorithm(trust.secret, alg)) return false
  return verifySignature(alg, trust.secret, signingInput(token), signature, meter)
}

/** Checks the registered claims of RFC 7519, 4.1 that OPA checks: iss, aud, exp and nbf. */
function claimsHold(payload: RegoObject, constraints: TokenConstraints): boolean {
  if (constraints.iss !== '' && payload.get('iss') !== constraints.iss) return false
  if (!audienceHolds(payload.get('aud'), constraints.aud)) return false
  const now = RegoNumber.of(constraints.timeNs / NS_PER_SECOND)
  const expiry = timeClaim(payload, 'exp')
  if (expiry !== undefined && compareValues(now, expiry) >= 0) return false
  const notBefore = timeClaim(payload, 'nbf')
  return notBefore === undefined || compareValues(now, notBefore) >= 0
}

/** A token with an audience requires that the constraints name it. */
function audienceHolds(claim: RegoValue | undefined, wanted: string): boolean {
  if (claim === undefined) return wanted === ''
  return isArray(claim) ? claim.includes(wanted) : claim === wanted
}

function timeClaim(payload: RegoObject, name: string): RegoNumber | undefined {
  const value = payload.get(name)
  if (value === undefined || value instanceof RegoNumber) return value
  throw new BuiltinError(`${name} value must be a number`)
}

/** The constraints of io.jwt.decode_verify. An empty `alg`, `iss` or `aud` was not given. */
interface TokenConstraints {
  readonly trust: TrustedKeys
  readonly alg: string
  readonly iss: string
  readonly aud: string
  /** The time at which the token must be valid, in nanoseconds since the epoch. */
  readonly timeNs: number
}

type TrustedKeys =
  | { readonly kind: 'secret'; readonly secret: KeyObject }
  | { readonly kind: 'keys'; readonly keys: readonly TokenKey[] }

const NAMES: readonly RegoValue[] = ['cert', 'secret', 'alg', 'iss', 'aud', 'time']

/** Throws BuiltinError unless constraints are known and exactly one is a key. */
function readConstraints(
  source: RegoObject,
  { nowNs, meter }: Pick<BuiltinContext, 'nowNs' | 'meter'>,
): TokenConstraints {
  for (const [name] of source.entries) {
    if (NAMES.includes(name)) continue
    const shown = typeof name === 'string' ? name : 'not a string'
    throw new BuiltinError(`unknown token validation constraint: ${shown}`)
  }
  const [alg, aud] = [readText(source, 'alg'), readText(source, 'aud')]
  const cert = source.get('cert') === undefined ? undefined : readText(source, 'cert')
  const keys = cert === undefined ? undefined : readVerificationKeys(cert, meter)
  const [iss, secret] = [readText(source, 'iss'), readText(source, 'secret')]
  const timeNs = readTime(source.get('time') ?? RegoNumber.of(nowNs))
  return { trust: chooseTrust(keys, secret), alg, aud, iss, timeNs }
}

function chooseTrust(keys: readonly TokenKey[] | undefined, secret: string): TrustedKeys {
  if (keys !== undefined && secret !== '') throw new BuiltinError('duplicate key constraints')
  if (keys !== undefined) return { kind: 'keys', keys }
  if (secret === '') throw new BuiltinError('no key constraint')
  return { kind: 'secret', secret: createSecretKey(Buffer.from(secret)) }
}

function readText(source: RegoObject, name: string): string {
  const value = source.get(name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new BuiltinError(`${name} constraint: must be a string`)
  return value
}

function readTime(value: RegoValue): number {
  if (!(value instanceof RegoNumber)) throw new BuiltinError('token time constraint: must be a number')
  const time = value.toNumber()
  // The spelling is OPA's.
  if (!Number.isFinite(time)) throw new BuiltinError('token time constraint: unvalid float64')
  if (time < 0) throw new BuiltinError('token time constraint: must not be negative')
  return time
}
