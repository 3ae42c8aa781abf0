import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192
const RANDOM_BYTES = 10
const VERSION_7 = 0x70
const VARIANT = 0x80

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Makes UUIDs of version 7 (RFC 9562, 5.7): a millisecond clock in front, random bits behind. Ids that follow time keep
 * a database index compact, which random ones do not.
 */
export function makeTimeOrderedIds(): (nowMs: number) => string {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  let clock = ''
  let clockMs = -1
  return (nowMs) => {
    if (used + RANDOM_BYTES > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    if (nowMs !== clockMs) {
      const hex = Math.trunc(nowMs).toString(16).padStart(12, '0')
      clock = `${hex.slice(0, 8)}-${hex.slice(8)}-`
      clockMs = nowMs
    }
    const hex = (index: number): string => HEX[pool[used + index] ?? 0] ?? ''
    const version = HEX[((pool[used] ?? 0) & 0x0f) | VERSION_7] ?? ''
    const variant = HEX[((pool[used + 2] ?? 0) & 0x3f) | VARIANT] ?? ''
    const node = hex(4) + hex(5) + hex(6) + hex(7) + hex(8) + hex(9)
    const id = `${clock}${version}${hex(1)}-${variant}${hex(3)}-${node}`
    used += RANDOM_BYTES
    return id
  }
}
