import { RegoNumber } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { integerOfBase64Url } from '../encoding/go-base64.js'

/** Bytes as Go's JSON has them. */
export function base64Of(bytes: Buffer): string {
  return bytes.toString('base64')
}

/** A list as Go's JSON has it: an empty one is the nil slice. */
export function listOrNull(items: readonly RegoValue[]): RegoArray | null {
  return items.length === 0 ? null : items
}

/** `2.5.4.3` as `[2,5,4,3]`. */
export function arcsOf(oid: string): RegoArray {
  return oid.split('.').map((arc) => new RegoNumber(arc))
}

/** The unsigned integer in base64url, as a JWK holds it. */
export function integerFromJwk(base64url: string | undefined): RegoNumber {
  return RegoNumber.of(integerOfBase64Url(base64url))
}
