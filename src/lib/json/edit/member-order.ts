import { decodeString } from '../scan/decode-string.js'
import { BACKSLASH, QUOTE } from '../scan/json-bytes.js'
import { scanString } from '../scan/scan-string.js'
import { copyRange } from './replace-extents.js'

/** Up to this many members an insertion sort is faster than the engine's sort. */
const FEW = 16

/** The members of the open objects, innermost last, and whether their keys are in order. */
export class MemberOrder {
  /**
   * Rearrangements that sort the members of closed objects by key and keep the last of each key.
   */
  readonly rearrangements: Rearrangement[] = []
  private readonly source: Uint8Array
  /**
   * Offset of each member's key in the source and of the member in the copy. Only the first `count`
   * entries are valid.
   */
  private readonly keys: number[] = []
  private readonly starts: number[] = []
  private count = 0
  /**
   * State of the innermost object: the number of members before its own, and whether its keys are
   * in order so far.
   */
  private base = 0
  private sorted = true
  /** `base` of the outer objects, as -1 - `base` if their keys are out of order. */
  private readonly outer: number[] = []

  constructor(source: Uint8Array) {
    this.source = source
  }

  openObject(): void {
    this.outer.push(this.sorted ? this.base : -1 - this.base)
    this.base = this.count
    this.sorted = true
  }

  addMember(key: number, start: number): void {
    const { count, keys } = this
    if (this.sorted && count > this.base)
      this.sorted = compareKeys(this.source, keys[count - 1] ?? 0, key) < 0
    keys[count] = key
    this.starts[count] = start
    this.count = count + 1
  }

  /**
   * Removes the innermost object, whose last member ends at `end` in the copy, with `gap` bytes
   * between members.
   */
  closeObject(end: number, gap: number): void {
    if (!this.sorted) this.putInOrder(end, gap)
    this.count = this.base
    const outer = this.outer.pop() ?? 0
    this.sorted = outer >= 0
    this.base = this.sorted ? outer : -1 - outer
  }

  private putInOrder(end: number, gap: number): void {
    const { base, count, starts } = this
    const members: number[] = []
    for (let member = base; member < count; member++) members.push(member)
    this.sortByKey(members)
    const separatorEnd = starts[base + 1] ?? 0
    const parts: number[] = []
    for (let i = 0; i < members.length; i++) {
      const member = members[i] ?? 0
      const next = members[i + 1]
      if (next !== undefined && this.compare(member, next) === 0) continue
      if (parts.length > 0) parts.push(separatorEnd - gap, separatorEnd)
      parts.push(starts[member] ?? 0, member === count - 1 ? end : (starts[member + 1] ?? 0) - gap)
    }
    this.rearrangements.push({ start: starts[base] ?? 0, end, parts })
  }

  private sortByKey(members: number[]): void {
    if (members.length > FEW) {
      members.sort((a, b) => this.compare(a, b))
      return
    }
    for (let i = 1; i < members.length; i++) {
      const member = members[i] ?? 0
      let slot = i
      for (; slot > 0 && this.compare(members[slot - 1] ?? 0, member) > 0; slot--) {
        members[slot] = members[slot - 1] ?? 0
      }
      members[slot] = member
    }
  }

  private compare(a: number, b: number): number {
    return compareKeys(this.source, this.keys[a] ?? 0, this.keys[b] ?? 0)
  }
}

/**
 * Compares two object keys of a valid JSON text, given by their opening quotes, bytewise by their
 * decoded UTF-8 as Go does. Returns a negative number, zero or a positive number.
 */
function compareKeys(bytes: Uint8Array, left: number, right: number): number {
  for (let i = 1; ; i++) {
    const a = bytes[left + i] ?? 0
    const b = bytes[right + i] ?? 0
    // Bytes beyond ASCII may be malformed UTF-8, which decodes to U+FFFD.
    if (a === BACKSLASH || b === BACKSLASH || a >= 0x80 || b >= 0x80)
      return compareDecoded(bytes, left, right)
    if (a === QUOTE) return b === QUOTE ? 0 : -1
    if (b === QUOTE) return 1
    if (a !== b) return a - b
  }
}

function compareDecoded(bytes: Uint8Array, left: number, right: number): number {
  return Buffer.compare(
    decodeString(bytes, left, scanString(bytes, left)),
    decodeString(bytes, right, scanString(bytes, right)),
  )
}

/**
 * Replaces the text from `start` to `end` by its `parts` (start, end, start, …) in the given order.
 */
interface Rearrangement {
  readonly start: number
  readonly end: number
  readonly parts: readonly number[]
}

/**
 * Applies all rearrangements, including nested ones. Copies every byte once regardless of nesting.
 */
export function rearrange(text: Buffer, rearrangements: readonly Rearrangement[]): Buffer {
  const byStart = rearrangements.toSorted((a, b) => a.start - b.start)
  const out = Buffer.allocUnsafe(text.length)
  let length = 0
  /** Ranges still to be written, the next one last, each as its end and its start. */
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

/**
 * The first rearrangement that starts after `position`. One that starts at a part's start is the
 * one that contains the part.
 */
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
