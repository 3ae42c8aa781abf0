import { AppError } from '../../errors.js'
import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Reads Rego's text form of a value: JSON, plus `{1, 2}` and `set()` for sets and any value as an object key. It is
 * what `opa_value_dump` of a module writes, and a superset of JSON. Raises `invalid` on anything else.
 */
export function parseRegoText(text: string): RegoValue {
  const reader = new TextReader(text)
  const value = reader.readValue()
  reader.expectEnd()
  return value
}

class TextReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
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
        return this.#readWord('set()', new RegoSet([]))
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
    if (this.#take(']')) return items
    do items.push(this.readValue())
    while (this.#take(','))
    this.#expect(']')
    return items
  }

  /** An object or a set: the sign after the first element tells which. */
  #readBraces(): RegoValue {
    this.#at++
    if (this.#take('}')) return new RegoObject([])
    const first = this.readValue()
    if (this.#take(':')) return this.#readObjectFrom(first)
    const members = [first]
    while (this.#take(',')) members.push(this.readValue())
    this.#expect('}')
    return new RegoSet(members)
  }

  #readObjectFrom(firstKey: RegoValue): RegoObject {
    const entries: [RegoValue, RegoValue][] = [[firstKey, this.readValue()]]
    while (this.#take(',')) {
      const key = this.readValue()
      this.#expect(':')
      entries.push([key, this.readValue()])
    }
    this.#expect('}')
    return new RegoObject(entries)
  }

  #readString(): string {
    const start = this.#at
    let end = start + 1
    for (; this.#text[end] !== '"'; end++) {
      if (end >= this.#text.length) this.#fail()
      if (this.#text[end] === '\\') end++
    }
    this.#at = end + 1
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string
    } catch {
      return this.#fail()
    }
  }

  #readNumber(): RegoNumber {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (match === null) return this.#fail()
    this.#at = NUMBER.lastIndex
    return new RegoNumber(match[0])
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
