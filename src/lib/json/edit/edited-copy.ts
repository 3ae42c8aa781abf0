import { asBuffer } from '../../bytes.js'
import { copyRange } from './replace-extents.js'

const NEWLINE = 0x0a
const SPACE = 0x20

/**
 * A copy of a text with small changes. Unchanged stretches are copied as blocks, and an unchanged
 * text is not copied. Source positions must not decrease.
 */
export class EditedCopy {
  private readonly source: Buffer
  /** Start of the stretch that is unchanged and not yet copied. */
  private runStart: number
  private out: Buffer | undefined
  private length = 0

  constructor(bytes: Uint8Array, start: number) {
    this.source = asBuffer(bytes)
    this.runStart = start
  }

  /** Position in the copy of the source byte at `at`. */
  position(at: number): number {
    return this.length + at - this.runStart
  }

  drop(at: number, next: number): void {
    if (at > this.runStart) this.beginEdit(at, next, 0)
    else this.runStart = next
  }

  /**
   * Omits the source from `at` to `next` and returns the copy so far, with space for `size` bytes
   * from `editStart` on. `endEdit` commits the written bytes.
   */
  beginEdit(at: number, next: number, size: number): Buffer {
    const run = at - this.runStart
    const out = this.withRoomFor(run + size)
    this.length = copyRange(this.source, this.runStart, at, out, this.length)
    this.runStart = next
    return out
  }

  get editStart(): number {
    return this.length
  }

  endEdit(position: number): void {
    this.length = position
  }

  /** Inserts a line break and `spaces` spaces before the source byte at `at`. */
  breakLine(at: number, spaces: number): void {
    const out = this.beginEdit(at, at, spaces + 1)
    out[this.length++] = NEWLINE
    for (let i = 0; i < spaces; i++) out[this.length++] = SPACE
  }

  /** Returns the copy up to `end`, or the source bytes themselves if nothing was changed. */
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
