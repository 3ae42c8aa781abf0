import { createPublicKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { KEY_OID } from './algorithms.js'
import { bitsOf, integerOf, malformed, oidOf, readAll, sequenceOf, TAG } from './der.js'
import type { DerNode } from './der.js'
import { base64Of, integerFromJwk } from './go-values.js'

/** Object identifiers of Go's curves. */
const CURVES: ReadonlySet<string> = new Set([
  '1.3.132.0.33',
  '1.2.840.10045.3.1.7',
  '1.3.132.0.34',
  '1.3.132.0.35',
])
const UNCOMPRESSED = 4
const ED25519_BYTES = 32

/**
 * Converts a SubjectPublicKeyInfo to the fields of Go's public key type; null for a kind that Go
 * does not support. Throws BuiltinError for an invalid one.
 */
export function goPublicKey(info: DerNode): RegoValue {
  const [algorithm, bits] = sequenceOf(info)
  const [oid, parameters] = sequenceOf(algorithm)
  const key = bitsOf(bits)
  switch (oidOf(oid)) {
    case KEY_OID.rsa: {
      if (parameters?.tag !== TAG.null || parameters.content.length > 0) throw malformed()
      return rsaFields(key)
    }
    case KEY_OID.ec: {
      if (!CURVES.has(oidOf(parameters)) || key[0] !== UNCOMPRESSED) throw malformed()
      return pointFields(info.raw)
    }
    case KEY_OID.ed25519: {
      if (parameters !== undefined || key.length !== ED25519_BYTES) throw malformed()
      return base64Of(key)
    }
    default:
      return null
  }
}

function rsaFields(key: Buffer): RegoValue {
  const [modulus, exponent] = sequenceOf(readAll(key)[0]).map(integerOf)
  if (modulus === undefined || exponent === undefined || modulus <= 0n || exponent <= 0n) throw malformed()
  if (exponent >= 1n << 63n) throw malformed()
  return RegoObject.fromRecord({ N: RegoNumber.of(modulus), E: RegoNumber.of(exponent) })
}

/** Throws BuiltinError for a point that is not on its curve. */
function pointFields(info: Buffer): RegoValue {
  const { x, y } = exportJwk(importPublicKey(info))
  return RegoObject.fromRecord({ Curve: new RegoObject([]), X: integerFromJwk(x), Y: integerFromJwk(y) })
}

/** Imports a SubjectPublicKeyInfo for calculations. Throws BuiltinError if OpenSSL refuses it. */
export function importPublicKey(info: Buffer): KeyObject {
  try {
    return createPublicKey({ key: info, format: 'der', type: 'spki' })
  } catch {
    throw malformed()
  }
}

/** Converts a private key to the fields of Go's type. */
export function goPrivateKey(key: KeyObject): RegoValue {
  const { n, e, d, p, q, dp, dq, qi, x, y } = exportJwk(key)
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return RegoObject.fromRecord({
        N: integerFromJwk(n),
        E: integerFromJwk(e),
        D: integerFromJwk(d),
        Primes: [integerFromJwk(p), integerFromJwk(q)],
        Precomputed: RegoObject.fromRecord({
          Dp: integerFromJwk(dp),
          Dq: integerFromJwk(dq),
          Qinv: integerFromJwk(qi),
          CRTValues: [],
        }),
      })
    case 'ec':
      return RegoObject.fromRecord({
        Curve: new RegoObject([]),
        D: integerFromJwk(d),
        X: integerFromJwk(x),
        Y: integerFromJwk(y),
      })
    // Go's type has no exported fields.
    case 'x25519':
      return new RegoObject([])
    default:
      return base64Of(Buffer.concat([d, x].map((part) => Buffer.from(part ?? '', 'base64url'))))
  }
}

/** Converts a private key to OPA's JWK. */
export function jwkOfPrivateKey(key: KeyObject): RegoValue {
  return new RegoObject(Object.entries(exportJwk(key)).filter(isTextEntry))
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string'
}

function exportJwk(key: KeyObject): JsonWebKey {
  return key.export({ format: 'jwk' })
}
