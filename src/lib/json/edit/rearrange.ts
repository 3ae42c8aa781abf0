import { copyRange } from './replace-extents.js'

/** Tells that the text from `start` to `end` is to consist of its `parts` (start, end, start, …) in the order given. */
export interface Rearrangement {
  readonly start: number
  readonly end: number
  readonly parts: readonly number[]
}

/**
 * The text with all the rearrangements made, also those inside the parts of others. Every byte is copied once, however deep they
 * nest, which moving the members of each object in turn would not do.
 */
export function rearrange(text: Buffer, rearrangements: readonly Rearrangement[]): Buffer {
  const byStart = rearrangements.toSorted((a, b) => a.start - b.start)
  const out = Buffer.allocUnsafe(text.length)
  let length = 0
  /** The ranges still to be written, the next one last, each as its end and its start. */
  const ahead = [text.length, 0]
  for (let start = ahead.pop(); start !== undefined; start = ahead.pop()) {
    const end = ahead.pop() ?? start
    const inner = firstAfter(byStart, start)
    if (inner === undefined || inner.start >= end) {
      length = copyRange(text, start, end, out, length)
    } else {
      length = copyRange(text, start, inner.start, out, length)
      ahead.push(end, inner.end)
      for (let i = inner.parts.length; i > 0; i--) ahead.push(inner.parts[i - 1] ?? 0)
    }
  }
  return out.subarray(0, length)
}

/** The first rearrangement that starts after `position`: one that starts with a part is the one that the part belongs to. */
function firstAfter(byStart: readonly Rearrangement[], position: number): Rearrangement | undefined {
  let low = 0
  let high = byStart.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((byStart[middle]?.start ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return byStart[low]
}
