import { AppError, toError } from '../../../errors/app-error.js'
import { MAX_NESTING } from '../../../lib/json/scan/nesting.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'
import { printJson } from '../../values/print-text.js'
import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue, RegoArray } from '../../values/value.js'
import { passes, BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand, stringOperand } from '../shared/operands.js'
import { readYaml } from './read-yaml.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { membersByText } from '../encoding/json-text.js'
import { formatGoFloat } from '../go-format/float.js'
import { readPlainScalar } from './plain-scalar.js'
import { chooseStyle, TextWriter } from './text-writer.js'
import type { ScalarStyle } from './text-writer.js'

const INDENT = 2

/** Characters that go-yaml cannot read back (YAML 1.1, 5.1); Go leaves them in JSON. */
const UNREADABLE = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/

/** A longer key, or one of several lines, is written after a `?`. */
const MAX_SIMPLE_KEY_BYTES = 128

const marshal: Builtin = (args, { meter }) => writeYaml(operand(args, 0), meter)

const unmarshal: Builtin = (args, { meter }) => readYaml(stringOperand(args, 0), meter)

const isValid: Builtin = (args, { meter }) => {
  const text = operand(args, 0)
  return typeof text === 'string' && passes(() => readYaml(text, meter))
}

export const yamlBuiltins: BuiltinTable = {
  'yaml.is_valid': isValid,
  'yaml.marshal': marshal,
  'yaml.unmarshal': unmarshal,
}

/**
 * Converts a YAML document to JSON like OPA. Takes seconds for hundreds of kilobytes, so it must
 * not run on the deciding thread. Throws `invalid` for a malformed or too deeply nested text,
 * before any recursion, and `too_large` if its aliases expand to more than `maxBytes` of JSON.
 */
export function yamlToJson(text: string, maxBytes: number): string {
  const value = read(text)
  if (minLength(value, maxBytes) > maxBytes) {
    throw new AppError(
      'too_large',
      `the YAML exceeds the limit of ${maxBytes} bytes after its aliases are expanded`,
    )
  }
  return printJson(value)
}

function read(text: string): RegoValue {
  try {
    return readYaml(text, UNMETERED_WORK)
  } catch (cause) {
    throw new AppError('invalid', toError(cause).message, { cause })
  }
}

function tooDeep(): AppError {
  return new AppError(
    'invalid',
    `the YAML is nested more than ${MAX_NESTING} levels deep after its aliases are expanded`,
  )
}

/** Returns a lower bound of the JSON length; stops counting at `limit`. */
function minLength(value: RegoValue, limit: number, level = 0): number {
  if (typeof value === 'string') return value.length
  if (value instanceof RegoNumber) return value.text.length
  if (typeof value !== 'object' || value === null) return 1
  const parts = value instanceof RegoObject ? value.entries.flat() : Array.isArray(value) ? value : []
  if (level > MAX_NESTING) throw tooDeep()
  let length = 1
  for (const part of parts) {
    length += 1 + minLength(part as RegoValue, limit - length, level + 1)
    if (length > limit) break
  }
  return length
}

/** Formats a value like Go yaml: sorted keys, unindented sequences, 80 columns. */
function writeYaml(value: RegoValue, meter: WorkMeter): string {
  const writer = new YamlWriter(meter)
  writer.writeRoot(value)
  return writer.text()
}

class YamlWriter {
  readonly #out: TextWriter

  constructor(meter: WorkMeter) {
    this.#out = new TextWriter(meter)
  }

  text(): string {
    return `${this.#out.text()}\n`
  }

  writeRoot(value: RegoValue): void {
    if (isCollection(value)) this.#writeCollection(asCollection(value), 0)
    else this.#writeScalar(value, INDENT)
  }

  /** Writes a collection. Its first line begins at the current column, the others at `indent`. */
  #writeCollection(value: RegoObject | RegoArray, indent: number): void {
    if (value instanceof RegoObject) this.#writeMapping(value, indent)
    else this.#writeSequence(value, indent)
  }

  #writeSequence(items: RegoArray, indent: number): void {
    for (const [i, item] of items.entries()) {
      if (i > 0) this.#out.newLine(indent)
      this.#out.write('- ')
      if (isCollection(item)) this.#writeCollection(asCollection(item), indent + INDENT)
      else this.#writeScalar(item, indent + INDENT)
    }
  }

  #writeMapping(object: RegoObject, indent: number): void {
    const members = [...membersByText(object)].sort(([a], [b]) => compareYamlKeys(a, b))
    for (const [i, [key, value]] of members.entries()) {
      if (i > 0) this.#out.newLine(indent)
      this.#writeKey(key, indent)
      this.#writeMember(value, indent)
    }
  }

  #writeKey(key: string, indent: number): void {
    refuseUnreadable(key)
    if (key.includes('\u0085')) throw new BuiltinError("yaml: did not find expected ',' or '}'")
    const isSimple = Buffer.byteLength(key) <= MAX_SIMPLE_KEY_BYTES && !/[\r\n\u0085\u2028\u2029]/.test(key)
    if (isSimple) {
      this.#out.writeStyled(key, chooseStyle(key, true), undefined)
      this.#out.write(':')
      return
    }
    this.#out.write('? ')
    this.#out.writeStyled(key, chooseStyle(key, false), indent + INDENT)
    this.#out.newLine(indent)
    this.#out.write(':')
  }

  #writeMember(value: RegoValue, indent: number): void {
    if (!isCollection(value)) {
      this.#out.write(' ')
      this.#writeScalar(value, indent + INDENT)
      return
    }
    const collection = asCollection(value)
    const inner = collection instanceof RegoObject ? indent + INDENT : indent
    this.#out.newLine(inner)
    this.#writeCollection(collection, inner)
  }

  #writeScalar(value: RegoValue, indent: number): void {
    if (typeof value === 'string') {
      refuseUnreadable(value)
      const read = foldLines(value)
      this.#out.writeStyled(read, chooseStyle(read, false), indent)
    } else if (value instanceof RegoNumber) this.#out.writeStyled(...numberText(value), indent)
    else
      this.#out.write(value === null || typeof value === 'boolean' ? String(value) : emptyCollection(value))
  }
}

function refuseUnreadable(text: string): void {
  if (UNREADABLE.test(text)) throw new BuiltinError('yaml: control characters are not allowed')
}

/** Go yaml parses the JSON as YAML, where U+0085 becomes a space in a string. */
function foldLines(text: string): string {
  return text.replace(/[ \u0085]+/g, (lines) => {
    if (!lines.includes('\u0085')) return lines
    const more = lines.replaceAll(' ', '').length - 1
    return more === 0 ? ' ' : '\n'.repeat(more)
  })
}

/** Go yaml parses numbers again: large integers are floats, larger ones strings. */
function numberText({ text }: RegoNumber): [string, ScalarStyle] {
  const scalar = readPlainScalar(text)
  if (scalar.kind === 'integer') return [scalar.value.toString(), 'plain']
  if (scalar.kind === 'float') return [formatGoFloat(scalar.value, 'g'), 'plain']
  return [text, chooseStyle(text, false)]
}

function emptyCollection(value: RegoValue): string {
  return value instanceof RegoObject ? '{}' : '[]'
}

function asCollection(value: RegoObject | RegoArray | RegoSet): RegoObject | RegoArray {
  return value instanceof RegoSet ? value.members : value
}

/** Returns true for a collection that is not empty, which is written on several lines. */
function isCollection(value: RegoValue): value is RegoObject | RegoArray | RegoSet {
  if (value === null || typeof value !== 'object' || value instanceof RegoNumber) return false
  const collection = asCollection(value)
  return (collection instanceof RegoObject ? collection.entries : collection).length > 0
}

/**
 * Go yaml's order of keys: numbers in them by value, letters after other characters. Returns a
 * negative number, zero or a positive number.
 */
function compareYamlKeys(a: string, b: string): number {
  const [x, y] = [Array.from(a), Array.from(b)]
  const at = x.findIndex((character, i) => character !== y[i])
  const [left, right] = [x[at], y[at]]
  if (left === undefined || right === undefined) return x.length - y.length
  const [isLeftLetter, isRightLetter] = [isLetter(left), isLetter(right)]
  if (isLeftLetter !== isRightLetter) return isRightLetter ? -1 : 1
  if (!isLeftLetter) {
    const order = compareNumbersAt(x, y, at)
    if (order !== 0) return order
  }
  return (left.codePointAt(0) ?? 0) - (right.codePointAt(0) ?? 0)
}

function compareNumbersAt(x: readonly string[], y: readonly string[], at: number): number {
  // After a leading digit, `100` must be greater than `10`.
  const lead = (x[at] === '0' || y[at] === '0') && hasLeadBefore(x, at) ? '1' : '0'
  const [a, b] = [digitsFrom(x, at), digitsFrom(y, at)]
  const [m, n] = [BigInt(lead + a), BigInt(lead + b)]
  if (m !== n) return m < n ? -1 : 1
  return a.length - b.length
}

function hasLeadBefore(characters: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(characters[i]); i--) {
    if (characters[i] !== '0') return true
  }
  return false
}

function digitsFrom(characters: readonly string[], at: number): string {
  let end = at
  while (isDigit(characters[end])) end++
  return characters.slice(at, end).join('')
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character)
}
