import { goJsonString } from '../../../lib/json/text/escape.js'
import * as layout from '../module/value-layout.js'
import { visitMembers } from './visit-members.js'

const [QUOTE, BACKSLASH, FIRST_UNESCAPED] = [0x22, 0x5c, 0x20]
const [COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
]
/** `<`, `>`, `&`, and the first byte of U+2028 and U+2029, which Go escapes. */
const ESCAPED_BY_GO = [0x3c, 0x3e, 0x26, 0xe2]
const WORD_VALUES = 2 ** 32
const FIRST_BYTES = 4096
/** Length of a string part, in bytes, that takes as long to print as a few values. */
const PART_BYTES = 4096
/** Spare capacity for a bracket and the longest integer. */
const SPARE_BYTES = 32

/** How strings are printed: `quote` prints those with a special byte, the others are copied. */
interface TextStyle {
  readonly isSpecial: Uint8Array
  readonly quote: (text: string) => string
}

const PLAIN: TextStyle = { isSpecial: specialBytes([]), quote: (text) => JSON.stringify(text) }
const AS_GO_DOES: TextStyle = { isSpecial: specialBytes(ESCAPED_BY_GO), quote: goJsonString }

function specialBytes(more: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(byte < FIRST_UNESCAPED || byte === QUOTE || byte === BACKSLASH || more.includes(byte)),
  )
}

interface PlacedBytes {
  readonly bytes: Uint8Array
  readonly base: number
}

/**
 * Prints the value at an address of an image as compact JSON in UTF-8, as `printJson` does: keys in
 * Rego's order, numbers as written. Creates no JavaScript values.
 */
export function printImage(image: PlacedBytes, address: number): Buffer {
  return new ImagePrinter(image, PLAIN).written(address)
}

/**
 * Prints as `printImage`, with Go's escapes, as `printGoJson` does. `count` is called for each
 * value and each part of a long string and may throw to stop.
 */
export function printImageAsGo(image: PlacedBytes, address: number, count?: () => void): string {
  return new ImagePrinter(image, AS_GO_DOES, count).written(address).toString()
}

class ImagePrinter {
  readonly #bytes: Buffer
  readonly #words: DataView
  readonly #base: number
  readonly #style: TextStyle
  readonly #count: (() => void) | undefined
  #out = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  constructor({ bytes, base }: PlacedBytes, style: TextStyle, count?: () => void) {
    this.#style = style
    this.#count = count
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#base = base
  }

  readonly #wordAt = (address: number): number => this.#words.getUint32(address - this.#base, true)

  written(address: number): Buffer {
    this.#print(address)
    return this.#out.subarray(0, this.#at)
  }

  #print(address: number): void {
    this.#count?.()
    const head = this.#words.getUint16(address - this.#base, true)
    const type = head & 0xff
    if (type === layout.STRING) this.#string(address)
    else if (type === layout.NUMBER) this.#number(address, head)
    else if (type === layout.ARRAY) this.#array(address)
    else if (type === layout.OBJECT) this.#object(address)
    else if (type === layout.INTERNED_BOOLEAN) this.#word(head === layout.TRUE ? 'true' : 'false')
    else this.#word('null')
  }

  #array(array: number): void {
    const elements = this.#wordAt(array + layout.MEMBERS)
    const end = elements + this.#wordAt(array + layout.COUNT) * layout.ELEMENT_BYTES
    this.#writeByte(OPEN_ARRAY)
    for (let element = elements; element < end; element += layout.ELEMENT_BYTES) {
      if (element > elements) this.#writeByte(COMMA)
      this.#print(this.#wordAt(element + layout.MEMBER_VALUE))
    }
    this.#writeByte(CLOSE_ARRAY)
  }

  #object(object: number): void {
    const members: number[] = []
    visitMembers(object, this.#wordAt, (member) => members.push(member))
    members.sort((a, b) => this.#compareKeys(this.#wordAt(a), this.#wordAt(b)))
    this.#writeByte(OPEN_OBJECT)
    for (const member of members) {
      if (member !== members[0]) this.#writeByte(COMMA)
      this.#string(this.#wordAt(member))
      this.#writeByte(COLON)
      this.#print(this.#wordAt(member + layout.MEMBER_VALUE))
    }
    this.#writeByte(CLOSE_OBJECT)
  }

  /** Compares keys by bytes, which equals the order of code points. */
  #compareKeys(a: number, b: number): number {
    const bytes = this.#bytes
    const [atA, atB] = [
      this.#wordAt(a + layout.STRING_TEXT) - this.#base,
      this.#wordAt(b + layout.STRING_TEXT) - this.#base,
    ]
    const [lengthA, lengthB] = [
      this.#wordAt(a + layout.STRING_LENGTH),
      this.#wordAt(b + layout.STRING_LENGTH),
    ]
    const length = Math.min(lengthA, lengthB)
    for (let offset = 0; offset < length; offset += 1) {
      const difference = (bytes[atA + offset] ?? 0) - (bytes[atB + offset] ?? 0)
      if (difference !== 0) return difference
    }
    return lengthA - lengthB
  }

  #string(string: number): void {
    const start = this.#wordAt(string + layout.STRING_TEXT) - this.#base
    const end = start + this.#wordAt(string + layout.STRING_LENGTH)
    const [bytes, begun, { isSpecial, quote }] = [this.#bytes, this.#at, this.#style]
    this.#reserve(end - start)
    for (let part = start + PART_BYTES; part < end; part += PART_BYTES) this.#count?.()
    const out = this.#out
    let to = begun
    out[to++] = QUOTE
    for (let from = start; from < end; from += 1) {
      const byte = bytes[from] ?? 0
      if (isSpecial[byte] === 1) {
        this.#word(quote(bytes.toString('utf8', start, end)))
        return
      }
      out[to++] = byte
    }
    out[to++] = QUOTE
    this.#at = to
  }

  #number(number: number, head: number): void {
    if (head !== layout.INTEGER) {
      const start = this.#wordAt(number + layout.NUMBER_TEXT) - this.#base
      const end = start + this.#wordAt(number + layout.NUMBER_LENGTH)
      this.#word(this.#bytes.toString('latin1', start, end))
      return
    }
    const at = number - this.#base + layout.INTEGER_VALUE
    const integer = this.#words.getInt32(at + 4, true) * WORD_VALUES + this.#words.getUint32(at, true)
    this.#word(String(Number.isSafeInteger(integer) ? integer : this.#bytes.readBigInt64LE(at)))
  }

  #word(text: string): void {
    this.#reserve(text.length * 3)
    this.#at += this.#out.write(text, this.#at)
  }

  #writeByte(byte: number): void {
    if (this.#at === this.#out.length) this.#reserve(0)
    this.#out[this.#at++] = byte
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes + SPARE_BYTES
    if (needed <= this.#out.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#out.length * 2))
    this.#out.copy(larger, 0, 0, this.#at)
    this.#out = larger
  }
}
