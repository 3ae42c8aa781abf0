import type { Extent } from '../scan/json-bytes.js'

/** A stretch of a text and its replacement. */
export interface Replacement extends Extent {
  readonly text: Uint8Array
}

/**
 * Returns a copy of `bytes` with the replacements, which must be in text order and must not
 * overlap.
 */
export function replaceExtents(bytes: Uint8Array, replacements: Iterable<Replacement>): Buffer {
  const parts: Uint8Array[] = []
  let kept = 0
  for (const { start, end, text } of replacements) {
    parts.push(bytes.subarray(kept, start), text)
    kept = end
  }
  parts.push(bytes.subarray(kept))
  return Buffer.concat(parts)
}

/** From this length on the native copy is faster, despite the view it creates. */
const NATIVE_COPY_FROM = 192

/**
 * Copies `start` to `end` of one buffer to `toStart` of another. Returns the offset after it in the
 * target.
 */
export function copyRange(from: Buffer, start: number, end: number, to: Buffer, toStart: number): number {
  if (end - start >= NATIVE_COPY_FROM) from.copy(to, toStart, start, end)
  else for (let i = start, j = toStart; i < end; i++, j++) to[j] = from[i] ?? 0
  return toStart + end - start
}
