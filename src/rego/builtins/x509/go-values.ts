import { RegoNumber } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { integerOfBase64Url } from '../encoding/go-base64.js'

/** Encodes bytes as in Go's JSON. */
export function base64Of(bytes: Buffer): string {
  return bytes.toString('base64')
}

/** Converts a list as in Go's JSON: an empty one is the nil slice. */
export function listOrNull(items: readonly RegoValue[]): RegoArray | null {
  return items.length === 0 ? null : items
}

/** `2.5.4.3` as `[2,5,4,3]`. */
export function arcsOf(oid: string): RegoArray {
  return oid.split('.').map((arc) => new RegoNumber(arc))
}

/** Decodes a base64url unsigned integer of a JWK. */
export function integerFromJwk(base64url: string | undefined): RegoNumber {
  return RegoNumber.of(integerOfBase64Url(base64url))
}
