/** Bounds of a piece, in bytes. The average of random data is `MIN_PIECE` plus 4 KiB. */
const MIN_PIECE = 2048
const MAX_PIECE = 16_384
/** The top 12 bits of the hash are zero at one position of 4096. */
const BOUNDARY_SHIFT = 20
/** Bytes before a boundary that determine it: older ones are shifted out of the hash. */
const WINDOW = 32

/**
 * A number for each byte, from a fixed generator (mulberry32), since stored pieces are found again
 * by later releases.
 */
const GEAR = new Int32Array(256)
for (let byte = 0, state = 0x7469_6465; byte < 256; byte += 1) {
  state = (state + 0x6d2b_79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  GEAR[byte] = mixed ^ (mixed >>> 14)
}

/**
 * Returns the end of the piece that starts at `start`. Boundaries depend on the bytes before them
 * alone (a gear hash, FastCDC by Xia et al., 2016), so that an edit changes only the pieces
 * around it.
 */
export function pieceEnd(bytes: Uint8Array, start: number): number {
  const first = start + MIN_PIECE
  const last = Math.min(start + MAX_PIECE, bytes.length)
  let hash = 0
  for (let at = Math.max(start, first - WINDOW); at < last; at += 1) {
    hash = ((hash << 1) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
    if (at >= first && hash >>> BOUNDARY_SHIFT === 0) return at + 1
  }
  return last
}
