import type { WorkMeter } from '../../metering/work-meter.js'
import type { JsonWebKey } from 'node:crypto'
import { integerOfBase64Url } from '../encoding/go-base64.js'

/** Steps for each pair of digits: Euclid's algorithm is quadratic. */
const DIGIT_PAIR_STEPS = 0.02

/**
 * An RSA private JWK with the values of the Chinese remainder theorem (RFC 8017, 3.2), which Go works out by itself and
 * node:crypto asks for. Any other key comes back as it is.
 */
export function completeRsaKey(jwk: JsonWebKey, meter: WorkMeter): JsonWebKey {
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

/** The inverse of `value` modulo `modulus` by Euclid's algorithm, or undefined when there is none. */
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
