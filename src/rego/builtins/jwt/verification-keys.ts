import type { WorkMeter } from '../../metering/work-meter.js'
import { X509Certificate, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { BuiltinError } from '../shared/builtin.js'
import { readPemBlock } from '../encoding/pem-block.js'
import { parseCertificates } from '../x509/certificate.js'
import { malformed } from '../x509/der.js'
import { signingInput, withContext } from './compact-token.js'
import type { CompactToken, HeaderFields } from './compact-token.js'
import { readJsonWebKeys } from './json-web-key.js'
import type { TokenKey } from './json-web-key.js'
import { isJwsAlgorithm, verifySignature } from './signature.js'
import type { JwsAlgorithm } from './signature.js'

/** OpenSSL's names of the NIST curves, the only ones in Go's crypto/x509. */
const GO_CURVES: readonly unknown[] = ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']

const EMPTY_SET = /^\s*\{\s*"keys"\s*:\s*\[\s*\]\s*\}\s*$/

/** Reads the public keys of a PEM certificate or key, a JWK or a JWK set. */
export function readVerificationKeys(text: string, meter: WorkMeter): TokenKey[] {
  const block = readPemBlock(text)
  if (block === undefined) {
    // An empty set is valid: no token verifies with it.
    if (EMPTY_SET.test(text)) return []
    const keys = withContext('failed to parse a JWK key (set)', () => readJsonWebKeys(text, meter))
    return keys.filter(({ alg }) => alg === undefined || isJwsAlgorithm(alg))
  }
  if (block.rest !== '') throw new BuiltinError('extra data after a PEM certificate block')
  switch (block.type) {
    case 'CERTIFICATE':
      return [{ key: readKey('certificate', () => publicKeyOfCertificate(block.der)), kid: '' }]
    case 'PUBLIC KEY':
      return [{ key: readKey('public key', () => publicKeyOf(block.der)), kid: '' }]
    default:
      throw new BuiltinError('failed to extract a Key from the PEM certificate')
  }
}

/** OpenSSL accepts certificates that Go refuses. */
function publicKeyOfCertificate(der: Buffer): KeyObject {
  if (parseCertificates(der).length !== 1) throw malformed()
  return new X509Certificate(der).publicKey
}

function publicKeyOf(der: Buffer): KeyObject {
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}

function readKey(kind: 'certificate' | 'public key', read: () => KeyObject): KeyObject {
  return withContext(`failed to parse a PEM ${kind}`, () => {
    const key = readWellFormed(kind, read)
    const curve = key.asymmetricKeyType === 'ec' ? key.asymmetricKeyDetails?.namedCurve : undefined
    if (curve !== undefined && !GO_CURVES.includes(curve)) {
      throw new BuiltinError('x509: unsupported elliptic curve')
    }
    return key
  })
}

function readWellFormed(kind: string, read: () => KeyObject): KeyObject {
  try {
    return read()
  } catch {
    throw new BuiltinError(`x509: malformed ${kind}`)
  }
}

/**
 * Verifies the token's signature with one of the keys. If a key has the token's key id, only that
 * key is tried; otherwise all keys whose algorithm is unspecified or that of the token.
 */
export function verifiesWithAny(
  keys: readonly TokenKey[],
  algorithm: JwsAlgorithm,
  fields: HeaderFields,
  token: CompactToken,
  signature: Buffer,
  meter: WorkMeter,
): boolean {
  const input = signingInput(token)
  const verifies = ({ key }: TokenKey): boolean =>
    key !== undefined && verifySignature(algorithm, key, input, signature, meter)
  const named = fields.kid === '' ? undefined : keys.find(({ kid }) => kid === fields.kid)
  if (named !== undefined) return verifies(named)
  return keys.some((key) => (key.alg === undefined || key.alg === fields.alg) && verifies(key))
}
