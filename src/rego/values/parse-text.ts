import { AppError } from '../../errors/app-error.js'
import type { WorkMeter } from '../metering/work-meter.js'
import { EMPTY_SET, EMPTY_SET_TEXT, RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

/** A text without escapes. */
const PLAIN_TEXT = /"[^"\\]*"/y
const NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y

/**
 * The cost of parsing in steps: for a value, for a value with members, which are sorted and
 * indexed, and for a character.
 */
const VALUE_STEPS = 4
const MEMBER_STEPS = 12
const CHARACTER_STEPS = 0.5
/**
 * Longer numbers cost by the digit, in built-ins too, for conversion between decimal and binary.
 */
const SHORT_NUMBER = 40
const DIGIT_STEPS = 40
/** Bytes on the JavaScript heap. */
const VALUE_BYTES = 40
const MEMBER_BYTES = 120

/**
 * Parses Rego's text form of a value, as `opa_value_dump` of a module writes it: JSON, plus `{1,
 * 2}` and `set()` for sets, and any value as an object key. Raises `invalid` for other text.
 * Charges the work to the meter, if given.
 */
export function parseRegoText(text: string, meter?: WorkMeter): RegoValue {
  if (text === EMPTY_SET_TEXT) return EMPTY_SET
  const reader = new TextReader(text, meter)
  const value = reader.readValue()
  reader.expectEnd()
  return value
}

class TextReader {
  readonly #text: string
  readonly #meter: WorkMeter | undefined
  #at = 0

  constructor(text: string, meter: WorkMeter | undefined) {
    this.#text = text
    this.#meter = meter
  }

  readValue(): RegoValue {
    this.#skipSpace()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#readBraces()
      case '[':
        return this.#readArray()
      case '"':
        return this.#readString()
      case 't':
        return this.#readWord('true', true)
      case 'f':
        return this.#readWord('false', false)
      case 'n':
        return this.#readWord('null', null)
      case 's':
        return this.#readWord(EMPTY_SET_TEXT, EMPTY_SET)
      default:
        return this.#readNumber()
    }
  }

  expectEnd(): void {
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail()
  }

  #readArray(): RegoValue[] {
    this.#at++
    const items: RegoValue[] = []
    this.#pay(VALUE_STEPS, VALUE_BYTES)
    if (this.#take(']')) return items
    do items.push(this.readValue())
    while (this.#take(','))
    this.#expect(']')
    return items
  }

  /** An object or a set: the character after the first element shows which. */
  #readBraces(): RegoValue {
    const start = this.#at++
    if (this.#take('}')) return new RegoObject([])
    const first = this.readValue()
    if (this.#take(':')) return this.#readObjectFrom(first, this.#at - start)
    const members = [first]
    while (this.#take(',')) members.push(this.readValue())
    this.#expect('}')
    this.#payForOrder(members.length, this.#at - start)
    return new RegoSet(members)
  }

  #readObjectFrom(firstKey: RegoValue, firstLength: number): RegoObject {
    const entries: [RegoValue, RegoValue][] = [[firstKey, this.readValue()]]
    let keyLength = firstLength
    while (this.#take(',')) {
      const start = this.#at
      const key = this.readValue()
      keyLength += this.#at - start
      this.#expect(':')
      entries.push([key, this.readValue()])
    }
    this.#expect('}')
    this.#payForOrder(entries.length, keyLength)
    return new RegoObject(entries)
  }

  /**
   * Members are compared again if their set is a member itself, so each level pays for its
   * contents.
   */
  #payForOrder(members: number, length: number): void {
    const rounds = Math.log2(members + 1)
    this.#pay(members * (MEMBER_STEPS + rounds) + length * CHARACTER_STEPS * rounds, members * MEMBER_BYTES)
  }

  #pay(steps: number, bytes: number): void {
    this.#meter?.spend(steps)
    this.#meter?.reserve(bytes)
  }

  #readString(): string {
    const start = this.#at
    PLAIN_TEXT.lastIndex = start
    this.#at = PLAIN_TEXT.test(this.#text) ? PLAIN_TEXT.lastIndex : this.#endOfText(start)
    this.#pay(VALUE_STEPS + (this.#at - start) * CHARACTER_STEPS, this.#at - start)
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string
    } catch {
      return this.#fail()
    }
  }

  #endOfText(start: number): number {
    let end = start + 1
    for (; this.#text[end] !== '"'; end++) {
      if (end >= this.#text.length) this.#fail()
      if (this.#text[end] === '\\') end++
    }
    return end + 1
  }

  #readNumber(): RegoNumber {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (match === null) return this.#fail()
    this.#at = NUMBER.lastIndex
    const [text] = match
    this.#pay(VALUE_STEPS + (text.length > SHORT_NUMBER ? text.length * DIGIT_STEPS : 0), VALUE_BYTES)
    return new RegoNumber(text)
  }

  #readWord<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) return this.#fail()
    this.#at += word.length
    return value
  }

  #take(sign: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) this.#fail()
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at++
  }

  #fail(): never {
    throw new AppError('invalid', `not a Rego value: unexpected text at offset ${this.#at}`)
  }
}
