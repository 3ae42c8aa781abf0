import { createPublicKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import { RegoObject } from '../../rego/value.js'
import type { RegoValue } from '../../rego/value.js'
import { base64Of, integerFromJwk } from './go-values.js'

/** The public key of a SubjectPublicKeyInfo with the fields of Go's type for it; null for a kind that Go does not read. */
export function goPublicKey(info: Buffer): RegoValue {
  const key = importPublicKey(info)
  return key === undefined ? null : publicFields(key)
}

function importPublicKey(info: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: info, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

function publicFields(key: KeyObject): RegoValue {
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const { n, e } = exportJwk(key)
      return RegoObject.fromRecord({ N: integerFromJwk(n), E: integerFromJwk(e) })
    }
    case 'ec': {
      const { x, y } = exportJwk(key)
      return RegoObject.fromRecord({ Curve: new RegoObject([]), X: integerFromJwk(x), Y: integerFromJwk(y) })
    }
    case 'ed25519':
      return base64Of(Buffer.from(exportJwk(key).x ?? '', 'base64url'))
    default:
      return null
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
