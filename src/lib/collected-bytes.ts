import { freeBytes } from './bytes.js'

/**
 * From `FEW_PIECES` on, smaller pieces are copied together, because each piece has some hundred
 * bytes of overhead.
 */
const SMALL_BYTES = 16 * 1024
const FEW_PIECES = 32
const BLOCK_BYTES = 64 * 1024
const EMPTY = Buffer.alloc(0)

/**
 * Collects bytes in pieces, which must not be used after `add`. Uses little more memory than their
 * total length.
 */
export class CollectedBytes {
  #pieces: Buffer[] = []
  /** Small pieces, copied here and appended after `pieces`. */
  #block = EMPTY
  #inBlock = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    this.#length += piece.length
    if (piece.length >= SMALL_BYTES || this.#pieces.length < FEW_PIECES) {
      this.#endBlock()
      this.#pieces.push(piece)
      return
    }
    if (this.#inBlock + piece.length > BLOCK_BYTES) this.#endBlock()
    if (this.#block.length === 0) this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    piece.copy(this.#block, this.#inBlock)
    this.#inBlock += piece.length
  }

  /** Returns all bytes, possibly in the memory passed to `add`, and empties the collection. */
  take(): Buffer {
    this.#endBlock()
    const [first = EMPTY] = this.#pieces
    const isOne = this.#pieces.length <= 1
    const all = isOne ? first : Buffer.concat(this.#pieces, this.#length)
    if (!isOne) this.#pieces.forEach(freeBytes)
    this.clear()
    return all
  }

  clear(): void {
    this.#pieces = []
    this.#block = EMPTY
    this.#inBlock = 0
    this.#length = 0
  }

  /** Appends a copy of the filled part of the block to the pieces and reuses the block. */
  #endBlock(): void {
    if (this.#inBlock === 0) return
    this.#pieces.push(Buffer.from(this.#block.subarray(0, this.#inBlock)))
    this.#inBlock = 0
  }
}
