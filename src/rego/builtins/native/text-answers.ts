import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { decodeUtf8 } from '../encoding/go-utf8.js'
import { displayText } from '../go-format/display-text.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { ensureResultLength } from '../shared/call-costs.js'
import {
  arrayOperand,
  collectionOperand,
  int64Operand,
  numberOperand,
  objectOperand,
  operand,
  stringOperand,
} from '../shared/operands.js'
import { exactInteger, parseGoFloat, truncate } from './go-float.js'
import { aGoInt } from './operand-checks.js'

/** Cost in evaluation steps of appending one text. */
const JOIN_STEPS = 5

/** Sets have another order in the module. */
const concat: Builtin = (args, { meter }) => {
  const texts = collectionOperand(args, 1).map(String)
  const delimiter = stringOperand(args, 0)
  const length = texts.reduce((sum, text) => sum + text.length, texts.length * delimiter.length)
  ensureResultLength(length, meter)
  meter.spend(length + texts.length * JOIN_STEPS)
  return texts.join(delimiter)
}

/** An empty text occurs before every byte and at the end, which splits characters. */
const replace: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const [before, after] = [stringOperand(args, 1), stringOperand(args, 2)]
  const count = before === '' ? text.length + 1 : text.length / before.length
  ensureResultLength(text.length + count * after.length, meter)
  meter.spend(text.length + count * (JOIN_STEPS + after.length))
  if (before !== '') return text.replaceAll(before, () => after)
  if (after === '') return text
  const parts = Array.from(Buffer.from(text), (byte) => (byte < 0x80 ? String.fromCharCode(byte) : '\ufffd'))
  return parts.reduce((made, part) => made + part + after, after)
}

const substring: Builtin = (args, context) => {
  const characters = Array.from(stringOperand(args, 0))
  const start = int64Operand(args, 1)
  aGoInt(operand(args, 2), 2, args, context)
  const length = int64Operand(args, 2)
  if (start < 0) throw new BuiltinError('negative offset')
  if (start >= characters.length) return ''
  return characters.slice(Number(start), length < 0 ? undefined : Number(start + length)).join('')
}

/** An integer that a double represents exactly. */
const PLAIN_INTEGER = /^-?\d{1,15}$/

const formatInteger: Builtin = (args, { meter }) => {
  const { text } = numberOperand(args, 0)
  const base = numberOperand(args, 1).toNumber()
  if (PLAIN_INTEGER.test(text)) return Number(text).toString(base)
  // A number with an exponent is first converted to binary.
  const isPlain = !/[.eE]/.test(text)
  const integer = (isPlain ? exactInteger(text, meter) : undefined) ?? truncate(parseGoFloat(text, meter))
  return integer.toString(base)
}

/** Indexes outside of the array are clamped. */
const arraySlice: Builtin = (args, { meter }) => {
  const array = arrayOperand(args, 0)
  const [from, to] = [int64Operand(args, 1), int64Operand(args, 2)]
  meter.spend(array.length)
  const start = from < 0n ? 0 : Number(from)
  return array.slice(start, to < 0n ? 0 : Number(to))
}

/** A template's parts: scalars, and sets with an expression's value or nothing. */
const templateString: Builtin = (args, { meter }) => {
  const texts = arrayOperand(args, 0).map((part) => {
    if (!(part instanceof RegoSet)) return partText(part)
    const [value, ...others] = part.members
    if (others.length > 0) throw new BuiltinError('template-strings must not produce multiple outputs')
    return value === undefined ? '<undefined>' : partText(value)
  })
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  ensureResultLength(length, meter)
  meter.spend(length + texts.length * JOIN_STEPS)
  return texts.join('')
}

function partText(value: RegoValue): string {
  return typeof value === 'string' ? value : displayText(value)
}

/** Cost in evaluation steps of skipping a byte, and of comparing one text there. */
const PASS_STEPS = 3
const SEARCH_STEPS = 3
const COPY_STEPS = 0.1
const COMPARE_STEPS = 0.2
const SHORT_PIECE = 16
const BYTE_VALUES = 256

interface Replacement {
  readonly from: Buffer
  readonly to: Buffer
}

/**
 * As in Go, each byte offset is compared with one text after another. An empty text matches at each
 * offset without another match.
 */
const replaceMany: Builtin = (args, { meter }) => {
  const pairs = objectOperand(args, 0).entries.flatMap(([from, to]) =>
    typeof from === 'string' && typeof to === 'string'
      ? [{ from: Buffer.from(from), to: Buffer.from(to) }]
      : [],
  )
  const text = Buffer.from(stringOperand(args, 1))
  meter.spend(text.length * (PASS_STEPS + pairs.length * SEARCH_STEPS))
  const byFirst = groupByFirst(pairs)
  const made = new GrowingText(text.length, meter)
  let copied = 0
  let wasEmpty = false
  for (let at = 0; at <= text.length;) {
    const found = byFirst[text[at] ?? 0]?.find(({ from }) =>
      from.length === 0 ? !wasEmpty : isAt(text, at, from, meter),
    )
    wasEmpty = found?.from.length === 0
    if (found === undefined) {
      at++
      continue
    }
    made.add(text, copied, at)
    made.add(found.to, 0, found.to.length)
    at += found.from.length
    copied = at
  }
  made.add(text, copied, text.length)
  return decodeUtf8(made.bytes())
}

/** Returns the candidates for every first byte, in order. */
function groupByFirst(pairs: readonly Replacement[]): readonly (readonly Replacement[])[] {
  const groups = Array.from({ length: BYTE_VALUES }, (): Replacement[] => [])
  for (const pair of pairs) {
    const [first] = pair.from
    if (first === undefined) for (const group of groups) group.push(pair)
    else groups[first]?.push(pair)
  }
  return groups
}

function isAt(text: Buffer, at: number, part: Buffer, meter: WorkMeter): boolean {
  if (at + part.length > text.length) return false
  let alike = 0
  while (alike < part.length && text[at + alike] === part[alike]) alike++
  // Near matches at every offset cost the product of both lengths.
  if (alike > SHORT_PIECE) meter.spend(alike * COMPARE_STEPS)
  return alike === part.length
}

/** A growing buffer, because many short strings would be as many objects. */
class GrowingText {
  readonly #meter: WorkMeter
  #bytes: Buffer
  #length = 0

  constructor(expectedLength: number, meter: WorkMeter) {
    this.#meter = meter
    meter.reserve(expectedLength)
    this.#bytes = Buffer.allocUnsafe(expectedLength)
  }

  /** Throws if the text becomes too long. */
  add(from: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#bytes.length) this.#growTo(length * 2)
    // For a few bytes a loop is faster than a call of the runtime.
    if (end - start > SHORT_PIECE) from.copy(this.#bytes, this.#length, start, end)
    else for (let i = start; i < end; i++) this.#bytes[this.#length + i - start] = from[i] ?? 0
    this.#length = length
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #growTo(capacity: number): void {
    ensureResultLength(capacity / 2, this.#meter)
    this.#meter.reserve(capacity)
    this.#meter.spend(capacity * COPY_STEPS)
    const bytes = Buffer.allocUnsafe(capacity)
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}

export const textAnswers: BuiltinTable = {
  'array.slice': arraySlice,
  concat,
  format_int: formatInteger,
  'internal.template_string': templateString,
  replace,
  'strings.replace_n': replaceMany,
  substring,
}
