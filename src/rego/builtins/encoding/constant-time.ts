import { timingSafeEqual } from 'node:crypto'

/** Compares two byte strings in a time that depends on their lengths only, like Go's hmac.Equal. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
