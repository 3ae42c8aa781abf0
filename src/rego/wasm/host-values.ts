import { AppError } from '../../errors/app-error.js'
import { parseRegoText } from '../values/parse-text.js'
import { printRegoTextWithin } from '../values/print-text.js'
import type { RegoValue } from '../values/value.js'
import type { WorkMeter } from '../metering/work-meter.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'
import {
  ARRAY,
  COUNT,
  DECIMAL,
  ELEMENT_BYTES,
  INTEGER,
  INTEGER_VALUE,
  INTERNED_STRING,
  MEMBERS,
  MEMBER_VALUE,
  NUMBER,
  NUMBER_LENGTH,
  NUMBER_TEXT,
  SET,
  STRING,
  STRING_LENGTH,
  STRING_TEXT,
} from './module/value-layout.js'
import type { Tracer } from '../builtins/shared/builtin.js'

/** Cost of decoding a byte of an operand, and of copying a string from memory. */
const DECODE_STEPS_PER_BYTE = 0.2
const TEXT_STEPS = 4
const TEXT_STEPS_PER_BYTE = 0.5
const LONGEST_SHORT_INTEGER = 15
const BEYOND_SHORT_INTEGERS = 1e15
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39
/** Size of a string value without its text, in bytes. */
const STRING_BYTES = 16
/** Cost of writing a value, and each byte of it. */
const WRITE_STEPS = 6
const WRITE_STEPS_PER_BYTE = 0.3

/** The addresses of the two interned booleans. */
export interface Booleans {
  readonly truth: number
  readonly falsehood: number
}

/** Converts between values in a module's memory and Rego values. */
export class HostValues {
  readonly #memory: ModuleMemory
  readonly #exports: PolicyExports
  /** Set if the module's runtime uses the known memory layout. */
  #known: Booleans | undefined

  constructor(memory: ModuleMemory, exports: PolicyExports) {
    this.#memory = memory
    this.#exports = exports
  }

  /** Enables reading strings and integers in place, and writing booleans by address. */
  trustLayout(booleans: Booleans): void {
    this.#known = booleans
  }

  /** Returns the value at an address and charges for it. */
  read(address: number, meter: WorkMeter): RegoValue {
    return parseRegoText(this.dump(address, meter), meter)
  }

  /**
   * Returns true for a 64-bit integer or a number of at most 15 digits without sign, point or
   * exponent; false if the layout is unknown.
   */
  isShortInteger(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined) return false
    const header = bytes.readUInt16LE(address)
    if (header !== DECIMAL) return header === INTEGER
    const text = bytes.readUInt32LE(address + NUMBER_TEXT)
    const length = bytes.readUInt32LE(address + NUMBER_LENGTH)
    return length <= LONGEST_SHORT_INTEGER && this.#areDigits(text, length)
  }

  /** Returns true for a string that is an integer of at most 15 digits. */
  isIntegerText(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined) return false
    const type = bytes.readUInt8(address)
    const length = bytes.readUInt32LE(address + STRING_LENGTH)
    const isText = type === STRING || type === INTERNED_STRING
    if (!isText || length === 0 || length > LONGEST_SHORT_INTEGER) return false
    const text = bytes.readUInt32LE(address + STRING_TEXT)
    return this.#areDigits(text, length) && (length === 1 || bytes[text] !== DIGIT_ZERO)
  }

  isNumber(address: number): boolean {
    return this.#memory.bytes.readUInt8(address) === NUMBER
  }

  isSet(address: number): boolean {
    return this.#memory.bytes.readUInt8(address) === SET
  }

  isEmptyText(address: number): boolean {
    const { bytes } = this.#memory
    const type = bytes.readUInt8(address)
    return (type === STRING || type === INTERNED_STRING) && bytes.readUInt32LE(address + STRING_LENGTH) === 0
  }

  /** Returns an integer of at most 15 digits; undefined for others or unknown layouts. */
  shortInteger(address: number): number | undefined {
    const { bytes } = this.#memory
    if (!this.isShortInteger(address)) return undefined
    if (bytes.readUInt16LE(address) === INTEGER) {
      const integer = Number(bytes.readBigInt64LE(address + INTEGER_VALUE))
      return Math.abs(integer) < BEYOND_SHORT_INTEGERS ? integer : undefined
    }
    const text = bytes.readUInt32LE(address + NUMBER_TEXT)
    return Number(this.#memory.textAt(text, bytes.readUInt32LE(address + NUMBER_LENGTH)))
  }

  /** Returns the bytes of a string and charges for them; undefined for other values. */
  textBytes(address: number, meter: WorkMeter): Uint8Array | undefined {
    const { bytes } = this.#memory
    if (this.#known === undefined) return undefined
    const type = bytes.readUInt8(address)
    if (type !== STRING && type !== INTERNED_STRING) return undefined
    const text = bytes.readUInt32LE(address + STRING_TEXT)
    const length = bytes.readUInt32LE(address + STRING_LENGTH)
    meter.spend(TEXT_STEPS + length * TEXT_STEPS_PER_BYTE)
    return bytes.subarray(text, text + length)
  }

  /** Returns true for an array of 64-bit integers only; false if the layout is unknown. */
  hasIntegersOnly(address: number): boolean {
    const { bytes } = this.#memory
    if (this.#known === undefined || bytes.readUInt8(address) !== ARRAY) return false
    const elements = bytes.readUInt32LE(address + MEMBERS)
    const end = elements + bytes.readUInt32LE(address + COUNT) * ELEMENT_BYTES
    for (let at = elements; at < end; at += ELEMENT_BYTES) {
      if (!this.isShortInteger(bytes.readUInt32LE(at + MEMBER_VALUE))) return false
    }
    return true
  }

  /** Writes a value to the module's memory, charges for it and returns its address. */
  write(value: RegoValue, meter: WorkMeter): number {
    if (this.#known !== undefined) {
      if (typeof value === 'boolean') return value ? this.#known.truth : this.#known.falsehood
      if (typeof value === 'string') return this.#writeString(value, meter)
    }
    return this.parse(Buffer.from(printRegoTextWithin(meter, value)), this.#exports.opa_value_parse)
  }

  /** Returns the addresses of the two booleans from the module's own parser. */
  parseBooleans(): Booleans {
    const parsed = (text: string): number => this.parse(Buffer.from(text), this.#exports.opa_json_parse)
    return { truth: parsed('true'), falsehood: parsed('false') }
  }

  /** Parses a text, which stays allocated: parsed strings may point into it. */
  parse(text: Uint8Array, parse: PolicyExports['opa_json_parse']): number {
    const address = this.#exports.opa_malloc(text.length)
    this.#memory.place(text, address)
    const parsed = parse(address, text.length)
    if (parsed === 0) throw new AppError('invalid', 'the policy module cannot parse a value: it is malformed')
    return parsed
  }

  /** Lone surrogates become U+FFFD, as in Go. */
  #writeString(text: string, meter: WorkMeter): number {
    const length = Buffer.byteLength(text)
    meter.spend(WRITE_STEPS + length * WRITE_STEPS_PER_BYTE)
    meter.reserve(length + STRING_BYTES)
    const address = this.#exports.opa_malloc(STRING_BYTES + length + 1)
    const { bytes } = this.#memory
    bytes.writeUInt32LE(STRING, address)
    bytes.writeUInt32LE(length, address + STRING_LENGTH)
    bytes.writeUInt32LE(address + STRING_BYTES, address + STRING_TEXT)
    bytes.write(text, address + STRING_BYTES, length)
    bytes[address + STRING_BYTES + length] = 0
    return address
  }

  #areDigits(address: number, length: number): boolean {
    const { bytes } = this.#memory
    for (let at = address; at < address + length; at++) {
      const byte = bytes[at] ?? 0
      if (byte < DIGIT_ZERO || byte > DIGIT_NINE) return false
    }
    return true
  }

  /** Returns the value at an address as Rego text, printed by the module. */
  dump(address: number, meter?: WorkMeter): string {
    const textAddress = this.#exports.opa_value_dump(address)
    const length = this.#memory.textLengthAt(textAddress)
    meter?.spend(length * DECODE_STEPS_PER_BYTE)
    const text = this.#memory.textAt(textAddress, length)
    this.#exports.opa_free(textAddress)
    return text
  }
}

/**
 * Passes a call of `sprintf` to the tracer if it marks a step of an explanation. Values are read
 * only if the tracer needs them. Returns false for a call of the policies.
 */
export function passMarker(
  tracer: Tracer,
  values: HostValues,
  meter: WorkMeter,
  [format = 0, operands = 0]: readonly number[],
): boolean {
  const name = Buffer.from(values.textBytes(format, meter) ?? '').toString()
  const kind = tracer.count(name)
  if (kind === 'record') tracer.record(name, values.read(operands, meter))
  return kind !== 'other'
}
