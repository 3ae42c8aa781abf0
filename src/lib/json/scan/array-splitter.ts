import { AppError } from '../../../errors/app-error.js'
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-bytes.js'

/**
 * Splits a JSON array that arrives in pieces into its elements, so that the array is never in
 * memory as a whole. Finds the ends of elements only; the caller must validate them. Throws
 * `invalid` for anything but an array, a truncated array, or an element above the limit.
 */
export class ArraySplitter {
  private readonly maxElementBytes: number
  private state: 'before' | 'first' | 'inside' | 'after' = 'before'
  private depth = 0
  private inText = false
  private isEscaped = false
  /** The start of the current element, from earlier pieces. */
  private readonly begun: Buffer[] = []
  private begunBytes = 0

  constructor(maxElementBytes: number) {
    this.maxElementBytes = maxElementBytes
  }

  /** Returns the elements that this piece completes. They share its memory. */
  push(piece: Buffer): Buffer[] {
    const whole: Buffer[] = []
    let start = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0
      if (this.inText) this.stepInText(byte)
      else if (this.state !== 'first' && this.state !== 'inside') {
        this.stepOutside(byte)
        start = at + 1
      } else if (this.endsElement(byte)) {
        const element = this.take(piece.subarray(start, at))
        const isEmpty = this.state === 'first' && byte === CLOSE_ARRAY && isBlank(element)
        if (!isEmpty) whole.push(element)
        this.state = byte === CLOSE_ARRAY ? 'after' : 'inside'
        start = at + 1
      }
    }
    if (this.state === 'first' || this.state === 'inside') this.keep(piece.subarray(start))
    return whole
  }

  /** Call this after the last piece. */
  end(): void {
    if (this.state !== 'after') throw new AppError('invalid', 'the list is truncated')
  }

  private stepInText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) this.isEscaped = true
    else if (byte === QUOTE) this.inText = false
  }

  private stepOutside(byte: number): void {
    if (isSpace(byte)) return
    if (this.state === 'after') throw new AppError('invalid', 'something follows the list')
    if (byte !== OPEN_ARRAY) throw new AppError('invalid', 'the answer is not a list')
    this.state = 'first'
  }

  /**
   * Processes a byte outside strings. Returns whether it is the comma or bracket after an element.
   */
  private endsElement(byte: number): boolean {
    if (byte === QUOTE) this.inText = true
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.depth++
    else if (this.depth > 0) {
      if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.depth--
    } else return byte === COMMA || byte === CLOSE_ARRAY
    return false
  }

  private take(end: Buffer): Buffer {
    this.keep(end)
    const element = this.begun.length === 1 ? (this.begun[0] ?? end) : Buffer.concat(this.begun)
    this.begun.length = 0
    this.begunBytes = 0
    return element
  }

  private keep(part: Buffer): void {
    this.begunBytes += part.length
    if (this.begunBytes > this.maxElementBytes) {
      throw new AppError('invalid', `the list has an element of more than ${this.maxElementBytes} bytes`)
    }
    this.begun.push(part)
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b && byte !== 0x0c)
}
