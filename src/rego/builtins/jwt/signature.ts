import type { WorkMeter } from '../../metering/work-meter.js'
import { constants, createHmac, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { toError } from '../../../errors/app-error.js'
import { BuiltinError } from '../shared/builtin.js'
import { equalInConstantTime } from '../encoding/constant-time.js'

/** The supported JWS algorithms (RFC 7518, RFC 8037). `none` is not supported. */
export type JwsAlgorithm = `${'HS' | 'RS' | 'PS' | 'ES'}${'256' | '384' | '512'}` | 'EdDSA'

/** Cost in evaluation steps of one signature with a key of the usual size, and per hashed byte. */
const VERIFYING_STEPS = 10_000
const SIGNING_STEPS = 100_000
const HASH_STEPS = 0.5
const USUAL_BITS = 2048
const MAX_BITS = 16_384

export type JwsFamily = 'HS' | 'RS' | 'PS' | 'ES' | 'Ed'

export function isJwsAlgorithm(name: string): name is JwsAlgorithm {
  return name === 'EdDSA' || /^(?:HS|RS|PS|ES)(?:256|384|512)$/.test(name)
}

export function familyOf(algorithm: JwsAlgorithm): JwsFamily {
  return algorithm.slice(0, 2) as JwsFamily
}

/** Returns true if the key has the algorithm's type, so that keys are not misused. */
export function suitsAlgorithm(key: KeyObject, algorithm: JwsAlgorithm): boolean {
  switch (familyOf(algorithm)) {
    case 'HS':
      return key.type === 'secret'
    case 'RS':
    case 'PS':
      return key.asymmetricKeyType === 'rsa'
    case 'ES':
      return key.asymmetricKeyType === 'ec'
    case 'Ed':
      return key.asymmetricKeyType === 'ed25519'
  }
}

/** The curve of each algorithm (RFC 7518, section 3.4), as OpenSSL names it. */
const CURVES: ReadonlyMap<JwsAlgorithm, string> = new Map([
  ['ES256', 'prime256v1'],
  ['ES384', 'secp384r1'],
  ['ES512', 'secp521r1'],
])

/**
 * Returns true if the standard permits the pair, down to the curve. Go accepts other curves, too, so
 * the built-ins do; other programs refuse such signatures.
 */
export function isStandardPair(key: KeyObject, algorithm: JwsAlgorithm): boolean {
  if (!suitsAlgorithm(key, algorithm)) return false
  const curve = CURVES.get(algorithm)
  return curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve
}

/** Returns the usual algorithm of a key for bundles; undefined for keys that cannot sign them. */
export function usualAlgorithm({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): JwsAlgorithm | undefined {
  if (asymmetricKeyType === 'rsa') return 'RS256'
  return [...CURVES].find(([, curve]) => curve === asymmetricKeyDetails?.namedCurve)?.[0]
}

/** Verifies a signature. Returns false for a key of another type and for a private key. */
export function verifySignature(
  algorithm: JwsAlgorithm,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  meter: WorkMeter,
): boolean {
  if (key.type === 'private' || !suitsAlgorithm(key, algorithm)) return false
  payForSignature(key, input, VERIFYING_STEPS, meter)
  if (familyOf(algorithm) === 'HS') {
    return equalInConstantTime(createHmac(hashOf(algorithm), key).update(input).digest(), signature)
  }
  const padding = { ...paddingOf(algorithm, constants.RSA_PSS_SALTLEN_AUTO), key }
  try {
    return verify(hashName(algorithm), input, padding, signature)
  } catch {
    return false
  }
}

/**
 * Signs `input`. The key must suit the algorithm and be secret or private. Throws BuiltinError if
 * it is still unfit, such as an RSA key shorter than the hash.
 */
export function makeSignature(
  algorithm: JwsAlgorithm,
  key: KeyObject,
  input: Buffer,
  meter: WorkMeter,
): Buffer {
  payForSignature(key, input, SIGNING_STEPS, meter)
  if (familyOf(algorithm) === 'HS') return createHmac(hashOf(algorithm), key).update(input).digest()
  const padding = { ...paddingOf(algorithm, constants.RSA_PSS_SALTLEN_DIGEST), key }
  try {
    return sign(hashName(algorithm), input, padding)
  } catch (raw) {
    // Only the size of an RSA key can still be wrong. The message is Go's.
    const isRsa = key.asymmetricKeyType === 'rsa'
    const reason = isRsa ? 'crypto/rsa: message too long for RSA key size' : toError(raw).message
    throw new BuiltinError(`failed to sign Payload: ${reason}`)
  }
}

/** Hashing is linear in bytes, verifying quadratic and signing cubic in the RSA key. */
function payForSignature(key: KeyObject, input: Buffer, steps: number, meter: WorkMeter): void {
  meter.spend(input.length * HASH_STEPS)
  if (key.type === 'secret') return
  const bits = key.asymmetricKeyDetails?.modulusLength ?? USUAL_BITS
  // Go accepts a key of any size; OpenSSL has this limit.
  if (bits > MAX_BITS) meter.exceed(`an RSA key has more than ${MAX_BITS} bits`)
  meter.spend(steps * (bits / USUAL_BITS) ** (steps === SIGNING_STEPS ? 3 : 2))
}

interface SignatureForm {
  readonly padding?: number
  readonly saltLength?: number
  readonly dsaEncoding?: 'ieee-p1363'
}

function paddingOf(algorithm: JwsAlgorithm, saltLength: number): SignatureForm {
  const family = familyOf(algorithm)
  if (family === 'PS') return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
  return family === 'ES' ? { dsaEncoding: 'ieee-p1363' } : {}
}

function hashOf(algorithm: JwsAlgorithm): string {
  return `sha${algorithm.slice(2)}`
}

/** Null for EdDSA, which includes the hash. */
function hashName(algorithm: JwsAlgorithm): string | null {
  return algorithm === 'EdDSA' ? null : hashOf(algorithm)
}
