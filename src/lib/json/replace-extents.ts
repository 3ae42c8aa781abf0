import type { Extent } from './extent.js'

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
