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
 * The public key of a SubjectPublicKeyInfo with the fields of Go's type for it; null for a kind that Go does not read. Raises BuiltinError for a
 * broken one.
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

/** Raises BuiltinError for a point that is not on its curve. */
function pointFields(info: Buffer): RegoValue {
  const { x, y } = exportJwk(importPublicKey(info))
  return RegoObject.fromRecord({ Curve: new RegoObject([]), X: integerFromJwk(x), Y: integerFromJwk(y) })
}

/** The key of a SubjectPublicKeyInfo for computing with it. Raises BuiltinError for one that OpenSSL does not take. */
export function importPublicKey(info: Buffer): KeyObject {
  try {
    return createPublicKey({ key: info, format: 'der', type: 'spki' })
  } catch {
    throw malformed()
  }
}

/** A private key with the fields of Go's type for it. */
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
    // Go's type for it has nothing that JSON shows.
    case 'x25519':
      return new RegoObject([])
    default:
      return base64Of(Buffer.concat([d, x].map((part) => Buffer.from(part ?? '', 'base64url'))))
  }
}

/** The JWK that OPA makes of a private key. */
export function jwkOfPrivateKey(key: KeyObject): RegoValue {
  return new RegoObject(Object.entries(exportJwk(key)).filter(isTextEntry))
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string'
}

function exportJwk(key: KeyObject): JsonWebKey {
  return key.export({ format: 'jwk' })
}
