import { AppError } from '../../errors/app-error.js'
import { parseRegoText } from '../rego/parse-text.js'
import { printRegoTextWithin } from '../rego/print-text.js'
import { RegoNumber } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import type { WorkMeter } from '../metering/work-meter.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'

/** What a byte of an operand costs that is made a text, and that is taken as it lies in memory. */
const DECODE_STEPS_PER_BYTE = 0.2
const TEXT_STEPS = 4
const TEXT_STEPS_PER_BYTE = 0.5

/** How the runtime lays out what needs no reading of text (value.h); the reader's own notes tell more (`reader/assembly/value-layout.ts`). */
const NULL = 1
const STRING = 4
const INTERNED_STRING = 8
const INTEGER = 3 | (1 << 8)
const LENGTH = 4
const TEXT = 8
const INTEGER_VALUE = 8
const NUMBER_TEXT = 3 | (2 << 8)
const NUMBER_TEXT_AT = 8
const NUMBER_TEXT_LENGTH = 12
const LONGEST_SHORT_INTEGER = 15
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39
const ARRAY = 5
const ELEMENTS = 4
const COUNT = 8
const ELEMENT_BYTES = 8
const ELEMENT_VALUE = 4

/** The addresses of the two values that results are most often. */
export interface Booleans {
  readonly truth: number
  readonly falsehood: number
}

/** Takes values out of a module's memory, and puts them into it. */
export class HostValues {
  readonly #memory: ModuleMemory
  readonly #exports: PolicyExports
  /** Set where the module's runtime is known to lay values out as we know it. */
  #known: Booleans | undefined

  constructor(memory: ModuleMemory, exports: PolicyExports) {
    this.#memory = memory
    this.#exports = exports
  }

  /** From now on, texts and integers are read where they lie, and booleans are written by their addresses. */
  trustLayout(booleans: Booleans): void {
    this.#known = booleans
  }

  /** The value at an address. Whoever has a meter pays for what it takes to make it. */
  read(address: number, meter: WorkMeter | undefined): RegoValue {
    if (this.#known === undefined) return this.#readDumped(address, meter)
    const { bytes } = this.#memory
    const type = bytes.readUInt8(address)
    if (type === STRING || type === INTERNED_STRING) {
      const length = bytes.readUInt32LE(address + LENGTH)
      meter?.spend(TEXT_STEPS + length * TEXT_STEPS_PER_BYTE)
      meter?.reserve(length)
      return this.#memory.textAt(bytes.readUInt32LE(address + TEXT), length)
    }
    if (type === NULL) return null
    return bytes.readUInt16LE(address) === INTEGER
      ? new RegoNumber(String(bytes.readBigInt64LE(address + INTEGER_VALUE)))
      : this.#readDumped(address, meter)
  }

  /** Whether a value is a 64-bit integer, or written with no more than 15 digits and nothing else; false where that is not known. */
  isShortInteger(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined) return false
    const header = bytes.readUInt16LE(address)
    if (header !== NUMBER_TEXT) return header === INTEGER
    const text = bytes.readUInt32LE(address + NUMBER_TEXT_AT)
    const length = bytes.readUInt32LE(address + NUMBER_TEXT_LENGTH)
    return length <= LONGEST_SHORT_INTEGER && this.#areDigits(text, length)
  }

  /** Whether a value is a text of no more than 15 digits that writes an integer as Rego does; false where that is not known. */
  isIntegerText(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined) return false
    const type = bytes.readUInt8(address)
    const length = bytes.readUInt32LE(address + LENGTH)
    const isText = type === STRING || type === INTERNED_STRING
    if (!isText || length === 0 || length > LONGEST_SHORT_INTEGER) return false
    const text = bytes.readUInt32LE(address + TEXT)
    return this.#areDigits(text, length) && (length === 1 || bytes[text] !== DIGIT_ZERO)
  }

  /** Whether an array holds 64-bit integers and nothing else; false where that is not known. */
  hasIntegersOnly(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined || bytes.readUInt8(address) !== ARRAY) return false
    const elements = bytes.readUInt32LE(address + ELEMENTS)
    const end = elements + bytes.readUInt32LE(address + COUNT) * ELEMENT_BYTES
    for (let at = elements; at < end; at += ELEMENT_BYTES) {
      if (!this.isShortInteger(bytes.readUInt32LE(at + ELEMENT_VALUE))) return false
    }
    return true
  }

  /** The address of a value that the meter pays for. */
  write(value: RegoValue, meter: WorkMeter): number {
    if (typeof value === 'boolean' && this.#known !== undefined)
      return value ? this.#known.truth : this.#known.falsehood
    return this.parse(Buffer.from(printRegoTextWithin(meter, value)), this.#exports.opa_value_parse)
  }

  /** The address of a parsed value. The text stays allocated: parsed strings may point into it. */
  parse(text: Uint8Array, parse: PolicyExports['opa_json_parse']): number {
    const address = this.#exports.opa_malloc(text.length)
    this.#memory.place(text, address)
    const parsed = parse(address, text.length)
    if (parsed === 0)
      throw new AppError('invalid', 'the policy module refuses a value: it is not well-formed')
    return parsed
  }

  #areDigits(address: number, length: number): boolean {
    const { bytes } = this.#memory
    for (let at = address; at < address + length; at++) {
      const byte = bytes[at] ?? 0
      if (byte < DIGIT_ZERO || byte > DIGIT_NINE) return false
    }
    return true
  }

  /** By the module's own writer of Rego text. */
  #readDumped(address: number, meter: WorkMeter | undefined): RegoValue {
    const textAddress = this.#exports.opa_value_dump(address)
    const length = this.#memory.textLengthAt(textAddress)
    meter?.spend(length * DECODE_STEPS_PER_BYTE)
    const value = parseRegoText(this.#memory.textAt(textAddress, length), meter)
    this.#exports.opa_free(textAddress)
    return value
  }
}
