import { AppError } from '../../../errors/app-error.js'
import { COMMA } from './json-bytes.js'
import { holdsMoreValues } from './nesting.js'
import { scanSpace } from './scan-value.js'

/** Many elements are parsed at once: thousands of calls for a few bytes each cost more than the parsing. */
const BATCH_BYTES = 64 * 1024
const MAX_BYTES = 4 * 1024 * 1024
/** Parsed they take some 20 MB at the worst. */
const MAX_VALUES = 200_000

/** The bytes of a document that belong together until they are parsed: elements of arrays, or what is left of the whole. */
export class PartCollector {
  readonly #what: string
  readonly #take: ((elements: readonly unknown[]) => void) | undefined
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** Whether nothing of the element under way has come yet. */
  #isBlank = true

  /** `what` names it in an error: "an entry of its lists". */
  constructor(what: string, take?: (elements: readonly unknown[]) => void) {
    this.#what = what
    this.#take = take
  }

  keep(piece: Buffer, start: number, end: number): void {
    if (start === end) return
    if (this.#isBlank) this.#isBlank = scanSpace(piece, start) >= end
    this.#makeRoomFor(end - start)
    this.#length += piece.copy(this.#bytes, this.#length, start, end)
  }

  /** An element has ended, by a comma or with its array; returns whether there was one. */
  endElement(): boolean {
    if (this.#isBlank) return false
    this.#isBlank = true
    if (this.#length >= BATCH_BYTES) this.handOver()
    else {
      this.#makeRoomFor(1)
      this.#bytes[this.#length++] = COMMA
    }
    return true
  }

  /** Has what has been kept taken; to be called between elements. */
  handOver(): void {
    const length = this.#bytes[this.#length - 1] === COMMA ? this.#length - 1 : this.#length
    this.#length = 0
    if (length > 0) this.#take?.(this.#parse(`[${this.#bytes.toString('utf8', 0, length)}]`) as unknown[])
  }

  /** What has been kept, as one value. Raises `invalid` for what is no JSON, `too_large` for too many values. */
  parse(): unknown {
    return this.#parse(this.#bytes.toString('utf8', 0, this.#length))
  }

  #makeRoomFor(bytes: number): void {
    const needed = this.#length + bytes
    if (needed > MAX_BYTES) {
      throw new AppError('too_large', `${this.#what} takes more than ${MAX_BYTES} bytes`)
    }
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.min(MAX_BYTES, Math.max(2 * needed, 1024)))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  #parse(text: string): unknown {
    if (text.length > MAX_VALUES && holdsMoreValues(text, MAX_VALUES)) {
      throw new AppError('too_large', `${this.#what} takes more than ${MAX_VALUES} values`)
    }
    try {
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw new AppError('invalid', 'something else than JSON', { cause })
    }
  }
}
