import type { Extent } from './extent.js'

const NATIVE_COPY_FROM = 48

/** Stretches of a copy, by their positions in it, that take the place of all from `start` on. */
export interface Rearrangement {
  readonly start: number
  readonly pieces: readonly Extent[]
}

/**
 * A copy of a text with small changes: stretches that stay as they are cost one block copy each, and a text that never changes
 * is not copied at all. Positions go forward only.
 */
export class EditedCopy {
  private readonly source: Buffer
  /** Where the stretch begins that is unchanged so far and not yet copied. */
  private runStart: number
  private out: Buffer | undefined
  private length = 0

  constructor(bytes: Uint8Array, start: number) {
    this.source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.runStart = start
  }

  /** Where the source byte at `at`, when everything before it was settled, goes in the copy. */
  position(at: number): number {
    return this.length + at - this.runStart
  }

  /** Leaves out the source from `at` to `next` and gives the place, with room for `size` bytes, to write in its stead. */
  replace(at: number, next: number, size: number): Buffer {
    const run = at - this.runStart
    const out = this.ensureRoom(run + size)
    if (run >= NATIVE_COPY_FROM) this.source.copy(out, this.length, this.runStart, at)
    else for (let i = 0; i < run; i++) out[this.length + i] = this.source[this.runStart + i] ?? 0
    this.length += run
    this.runStart = next
    return out
  }

  /** Where the place of the last `replace` begins, until `wrote`. */
  get cursor(): number {
    return this.length
  }

  /** Tells that what stands in for the source ends at this position of the copy. */
  wrote(cursor: number): void {
    this.length = cursor
  }

  /** Puts ASCII text before the source byte at `at`. */
  insert(at: number, text: string): void {
    const out = this.replace(at, at, text.length)
    this.length += out.write(text, this.length, 'latin1')
  }

  /**
   * Writes the stretches of the copy, in the order given and with `separator` between them, over everything from the first of
   * them to the source byte at `at`.
   */
  rearrange(at: number, { start, pieces }: Rearrangement, separator: string): void {
    const out = this.replace(at, at, 0)
    const before = Buffer.from(out.subarray(start, this.length))
    this.length = start
    for (const piece of pieces) {
      if (this.length > start) this.length += out.write(separator, this.length, 'latin1')
      this.length += before.copy(out, this.length, piece.start - start, piece.end - start)
    }
  }

  /** The copy of everything up to `end`; the very source bytes when nothing was changed. */
  finish(end: number): Buffer {
    if (this.length === 0) return this.source.subarray(this.runStart, end)
    const out = this.replace(end, end, 0)
    return out.subarray(0, this.length)
  }

  private ensureRoom(size: number): Buffer {
    const needed = this.length + size
    if (this.out !== undefined && needed <= this.out.length) return this.out
    const rest = this.source.length - this.runStart
    const grown = Buffer.allocUnsafe(Math.max(needed + (needed >> 1), this.length + rest + 64))
    if (this.out !== undefined) this.out.copy(grown, 0, 0, this.length)
    this.out = grown
    return grown
  }
}
