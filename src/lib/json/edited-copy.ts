/** Lengths from which the native copy is the faster: `Buffer.copy` makes a view first, `copyWithin` does not. */
const NATIVE_COPY_FROM = 192
const NATIVE_MOVE_FROM = 64
const NEWLINE = 0x0a
const SPACE = 0x20

/**
 * A copy of a text with small changes: stretches that stay as they are cost one block copy each, and a text that never changes
 * is not copied at all. Positions in the source go forward only.
 */
export class EditedCopy {
  private readonly source: Buffer
  /** Where the stretch begins that is unchanged so far and not yet copied. */
  private runStart: number
  private out: Buffer | undefined
  private length = 0

  constructor(bytes: Uint8Array, start: number) {
    this.source = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.runStart = start
  }

  /** Where in the copy the source byte at `at` goes. */
  position(at: number): number {
    return this.length + at - this.runStart
  }

  /** Leaves out the source from `at` to `next`. */
  drop(at: number, next: number): void {
    if (at > this.runStart) this.beginEdit(at, next, 0)
    else this.runStart = next
  }

  /**
   * Leaves out the source from `at` to `next` and gives the copy so far, with room for `size` bytes from `editStart` on. What is
   * written there counts after `endEdit`.
   */
  beginEdit(at: number, next: number, size: number): Buffer {
    const run = at - this.runStart
    const out = this.withRoomFor(run + size)
    copyBytes(this.source, this.runStart, at, out, this.length)
    this.length += run
    this.runStart = next
    return out
  }

  get editStart(): number {
    return this.length
  }

  endEdit(position: number): void {
    this.length = position
  }

  /** Puts a line break and `spaces` spaces before the source byte at `at`. */
  breakLine(at: number, spaces: number): void {
    const out = this.beginEdit(at, at, spaces + 1)
    out[this.length++] = NEWLINE
    for (let i = 0; i < spaces; i++) out[this.length++] = SPACE
  }

  /**
   * Rearranges the copy from `start` to the source byte at `at`: the stretches of `extents` (start, end, start, …: positions in
   * the copy) take its place, with the `gap` bytes before `separatorEnd` between them.
   */
  rearrange(at: number, start: number, extents: readonly number[], separatorEnd: number, gap: number): void {
    const size = this.position(at) - start
    const out = this.beginEdit(at, at, size)
    const aside = this.length
    moveBytes(out, aside, start, aside)
    const shift = aside - start
    let to = start
    for (let i = 0; i < extents.length; i += 2) {
      if (i > 0) to = moveBytes(out, to, separatorEnd - gap + shift, separatorEnd + shift)
      to = moveBytes(out, to, (extents[i] ?? 0) + shift, (extents[i + 1] ?? 0) + shift)
    }
    this.length = to
  }

  /** The copy of everything up to `end`; the very source bytes when nothing was changed. */
  finish(end: number): Buffer {
    if (this.length === 0) return this.source.subarray(this.runStart, end)
    return this.beginEdit(end, end, 0).subarray(0, this.length)
  }

  private withRoomFor(size: number): Buffer {
    const needed = this.length + size
    if (this.out !== undefined && needed <= this.out.length) return this.out
    const rest = this.source.length - this.runStart
    const grown = Buffer.allocUnsafe(Math.max(needed + (needed >> 1), this.length + rest + 64))
    if (this.out !== undefined) this.out.copy(grown, 0, 0, this.length)
    this.out = grown
    return grown
  }
}

/** For the short stretches between the tokens of JSON a loop beats the call into native code. */
function copyBytes(from: Buffer, start: number, end: number, to: Buffer, toStart: number): void {
  if (end - start >= NATIVE_COPY_FROM) from.copy(to, toStart, start, end)
  else for (let i = start, j = toStart; i < end; i++, j++) to[j] = from[i] ?? 0
}

/** Copies `start` to `end` to an earlier place or past the end: the offset after it there. */
function moveBytes(bytes: Buffer, to: number, start: number, end: number): number {
  if (end - start >= NATIVE_MOVE_FROM) bytes.copyWithin(to, start, end)
  else for (let i = start, j = to; i < end; i++, j++) bytes[j] = bytes[i] ?? 0
  return to + end - start
}
