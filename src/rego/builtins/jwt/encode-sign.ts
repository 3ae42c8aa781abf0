import type { KeyObject } from 'node:crypto'
import { RegoObject, typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext } from '../shared/builtin.js'
import { printGoJson } from '../../values/print-go-json.js'
import { cannotUnmarshal, isJsonDocument, readJsonDocument } from '../encoding/json-document.js'
import { operand, stringOperand } from '../shared/operands.js'
import { signingInput, withContext } from './compact-token.js'
import { readJsonWebKeys } from './json-web-key.js'
import { familyOf, isJwsAlgorithm, makeSignature, suitsAlgorithm } from './signature.js'
import type { JwsAlgorithm, JwsFamily } from './signature.js'

/** `io.jwt.encode_sign`: takes values; the token contains their compact JSON. */
export function encodeSign(args: readonly RegoValue[], { meter }: BuiltinContext): RegoValue {
  const [headers, payload, jwk] = [0, 1, 2].map((index) => printGoJson(operand(args, index)))
  return signToken(headers ?? '', payload ?? '', jwk ?? '', meter)
}

/** `io.jwt.encode_sign_raw`: takes JSON texts; the token contains them byte for byte. */
export function encodeSignRaw(args: readonly RegoValue[], { meter }: BuiltinContext): RegoValue {
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
