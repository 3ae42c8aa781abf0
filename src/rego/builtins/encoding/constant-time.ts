import { timingSafeEqual } from 'node:crypto'

/** Whether two byte strings are the same. The time taken tells only whether their lengths are, as Go's hmac.Equal does. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
