import { freeBytes } from './bytes.js'

/** Smaller pieces are copied once there are many, for a piece takes some hundred bytes beside its own. */
const SMALL_BYTES = 16 * 1024
const FEW_PIECES = 32
const BLOCK_BYTES = 64 * 1024
const EMPTY = Buffer.alloc(0)

/** Bytes that come in pieces, which are given away with `add`: in however many, they take little more memory than they are long. */
export class CollectedBytes {
  #pieces: Buffer[] = []
  /** What is behind the pieces: small ones, copied. */
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

  /** All of them in one, which may be the very memory that came; nothing is kept. */
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

  /** What is in the block becomes a piece, as long as it is; the block is filled again. */
  #endBlock(): void {
    if (this.#inBlock === 0) return
    this.#pieces.push(Buffer.from(this.#block.subarray(0, this.#inBlock)))
    this.#inBlock = 0
  }
}
