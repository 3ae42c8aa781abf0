import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'

import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { decodeGoBase64, integerOfBase64Url } from '../encoding/go-base64.js'
import { cannotUnmarshal, readJsonDocument } from '../encoding/json-document.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'
import { withContext } from './compact-token.js'

/** A key and its permitted use in a JWK (RFC 7517). */
export interface TokenKey {
  /** Undefined for an invalid key, such as a point off the curve. It verifies nothing. */
  readonly key: KeyObject | undefined
  /** Absent if the JWK has no algorithm. */
  readonly alg?: string
  readonly kid: string
}

/** Cost in evaluation steps of creating a key from its numbers. */
const KEY_STEPS = 20_000

const BINARY_FIELDS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'x', 'y', 'k'] as const
const SECRET_FIELDS = ['k'] as const
const TEXT_FIELDS = ['kid', 'use'] as const
const KEY_TYPES: readonly RegoValue[] = ['RSA', 'EC', 'oct', 'OKP']
const EC_CURVES: readonly string[] = ['P-256', 'P-384', 'P-521']
const KEY_OPERATIONS: readonly RegoValue[] = [
  'sign',
  'verify',
  'encrypt',
  'decrypt',
  'wrapKey',
  'unwrapKey',
  'deriveKey',
  'deriveBits',
]

/** Returns the keys of a JWK or JWK set. Throws BuiltinError with OPA's message. */
export function readJsonWebKeys(text: string, meter: WorkMeter): TokenKey[] {
  const document = withContext('failed to unmarshal JWK Set', () => {
    const value = readJsonDocument(Buffer.from(text), 'unmarshal')
    const keys = readKeySet(value)
    keys.forEach(checkFields)
    return { keys, value }
  })
  if (document.keys.length > 0) return document.keys.map((key) => makeKey(key, meter))

  const single = document.value instanceof RegoObject ? document.value : new RegoObject([])
  withContext('failed to unmarshal JWK', () => {
    checkFields(single)
  })
  return [makeKey(single, meter)]
}

function readKeySet(value: RegoValue): RegoObject[] {
  if (value === null) return []
  if (!(value instanceof RegoObject)) throw cannotUnmarshal(value, 'value of type jwk.RawKeySetJSON')
  const keys = value.get('keys') ?? []
  if (!isArray(keys)) throw cannotUnmarshal(keys, 'struct field RawKeySetJSON.keys of type []jwk.RawKeyJSON')
  return keys.map((key) => {
    if (key instanceof RegoObject) return key
    throw cannotUnmarshal(key, 'struct field RawKeySetJSON.keys of type jwk.RawKeyJSON')
  })
}

function checkFields(key: RegoObject): void {
  const type = key.get('kty')
  if (type !== undefined && !KEY_TYPES.includes(type)) throw new BuiltinError('unknown signature algorithm')
  for (const name of TEXT_FIELDS) {
    const value = key.get(name) ?? ''
    if (typeof value !== 'string')
      throw cannotUnmarshal(value, `struct field RawKeyJSON.${name} of type string`)
  }
  const operations = key.get('key_ops')
  if (operations !== undefined && !(isArray(operations) && operations.every(isKeyOperation))) {
    throw new BuiltinError('invalid key operation')
  }
  // Fields of other key types are custom fields.
  const fields = type === 'oct' ? SECRET_FIELDS : BINARY_FIELDS
  for (const name of fields) checkBinary(key.get(name) ?? '')
}

function isKeyOperation(value: RegoValue): boolean {
  return KEY_OPERATIONS.includes(value)
}

function checkBinary(value: RegoValue): void {
  if (typeof value !== 'string') {
    const error = cannotUnmarshal(value, 'value of type string')
    throw new BuiltinError(`failed to unmarshal JSON: ${error.message}`)
  }
  withContext('failed to decode from base64', () => decodeGoBase64(value, 'raw-url'))
}

function makeKey(source: RegoObject, meter: WorkMeter): TokenKey {
  meter.spend(KEY_STEPS)
  const kid = textField(source, 'kid')
  const alg = source.get('alg')
  const key = withContext('failed to generate key', () => makeKeyObject(source, meter))
  return alg === undefined ? { key, kid } : { key, kid, alg: typeof alg === 'string' ? alg : '' }
}

function makeKeyObject(source: RegoObject, meter: WorkMeter): KeyObject | undefined {
  switch (source.get('kty')) {
    case 'oct':
      return createSecretKey(Buffer.from(textField(source, 'k'), 'base64url'))
    case 'RSA':
      requireFields(source, ['n', 'e'], 'N or E')
      if (has(source, 'd')) requireFields(source, ['d', 'p', 'q'], 'D, P or Q')
      return importKey(completeRsaKey(toJwk(source), meter))
    case 'EC': {
      requireFields(source, ['x', 'y', 'crv'], 'X, Y or Crv')
      const curve = textField(source, 'crv')
      if (!EC_CURVES.includes(curve)) throw notFromJwk(`invalid curve name ${curve}`)
      return importKey(toJwk(source))
    }
    case 'OKP':
      return importKey(toJwk(source))
    default:
      throw new BuiltinError('unrecognized key type')
  }
}

function requireFields(source: RegoObject, names: readonly string[], spoken: string): void {
  if (!names.every((name) => has(source, name))) {
    throw notFromJwk(`missing mandatory key parameters ${spoken}`)
  }
}

function notFromJwk(reason: string): BuiltinError {
  return new BuiltinError(`failed to generate key from JWK: ${reason}`)
}

function importKey(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return jwk.d === undefined
      ? createPublicKey({ key: jwk, format: 'jwk' })
      : createPrivateKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}

function toJwk(source: RegoObject): JsonWebKey {
  const names = ['kty', 'crv', ...BINARY_FIELDS].filter((name) => has(source, name))
  return Object.fromEntries(names.map((name) => [name, textField(source, name)]))
}

function has(source: RegoObject, name: string): boolean {
  return textField(source, name) !== ''
}

function textField(source: RegoObject, name: string): string {
  const value = source.get(name)
  return typeof value === 'string' ? value : ''
}

/** Cost in evaluation steps per pair of digits: Euclid's algorithm is quadratic. */
const DIGIT_PAIR_STEPS = 0.02

/**
 * Adds the Chinese remainder theorem values to an RSA private JWK (RFC 8017, 3.2): Go computes
 * them, node:crypto requires them. Other keys are returned unchanged.
 */
function completeRsaKey(jwk: JsonWebKey, meter: WorkMeter): JsonWebKey {
  const { d, p, q } = jwk
  if (d === undefined || p === undefined || q === undefined) return jwk
  if (jwk.dp !== undefined && jwk.dq !== undefined && jwk.qi !== undefined) return jwk
  meter.spend((d.length + p.length + q.length) ** 2 * DIGIT_PAIR_STEPS)
  const [exponent, first, second] = [integerOfBase64Url(d), integerOfBase64Url(p), integerOfBase64Url(q)]
  const inverse = invert(second, first)
  if (inverse === undefined) return jwk
  return {
    ...jwk,
    dp: toBase64Url(exponent % (first - 1n)),
    dq: toBase64Url(exponent % (second - 1n)),
    qi: toBase64Url(inverse),
  }
}

/** Returns the modular inverse by Euclid's algorithm, or undefined if there is none. */
function invert(value: bigint, modulus: bigint): bigint | undefined {
  if (value < 2n || modulus < 2n) return undefined
  let [previous, current] = [modulus, value % modulus]
  let [previousFactor, factor] = [0n, 1n]
  while (current !== 0n) {
    const quotient = previous / current
    ;[previous, current] = [current, previous - quotient * current]
    ;[previousFactor, factor] = [factor, previousFactor - quotient * factor]
  }
  return previous === 1n ? ((previousFactor % modulus) + modulus) % modulus : undefined
}

function toBase64Url(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url')
}
