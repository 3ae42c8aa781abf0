import type { Extent } from '../scan/json-bytes.js'

/** A stretch of a text and what is to stand there instead. */
export interface Replacement extends Extent {
  readonly text: Uint8Array
}

/** A copy of `bytes` with the replacements made; they must not overlap and must be in the order of the text. */
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

/** From this length on the native copy is faster: it makes a view of the source first. */
const NATIVE_COPY_FROM = 192

/** Copies `start` to `end` of one buffer to `toStart` of another and gives the offset after it there. */
export function copyRange(from: Buffer, start: number, end: number, to: Buffer, toStart: number): number {
  if (end - start >= NATIVE_COPY_FROM) from.copy(to, toStart, start, end)
  else for (let i = start, j = toStart; i < end; i++, j++) to[j] = from[i] ?? 0
  return toStart + end - start
}
