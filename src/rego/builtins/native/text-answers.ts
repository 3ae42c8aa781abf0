import { RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { displayText } from '../go-format/display-text.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import {
  arrayOperand,
  collectionOperand,
  int64Operand,
  numberOperand,
  operand,
  stringOperand,
} from '../shared/operands.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { exactInteger } from './exact-integer.js'
import { parseGoFloat, truncate } from './go-float.js'
import { aGoInt } from './operand-checks.js'
import { replaceMany } from './replace-many.js'

/** Steps of putting one text behind others. */
const JOIN_STEPS = 5

/** Sets have an order of their own in the module. */
const concat: Builtin = (args, { meter }) => {
  const texts = collectionOperand(args, 1).map(String)
  const delimiter = stringOperand(args, 0)
  const length = texts.reduce((sum, text) => sum + text.length, texts.length * delimiter.length)
  ensureResultLength(length, meter)
  meter.spend(length + texts.length * JOIN_STEPS)
  return texts.join(delimiter)
}

/** An empty text is found before every byte and at the end: what one is torn from its character is none any more. */
const replace: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const [before, after] = [stringOperand(args, 1), stringOperand(args, 2)]
  const places = before === '' ? text.length + 1 : text.length / before.length
  ensureResultLength(text.length + places * after.length, meter)
  meter.spend(text.length + places * (JOIN_STEPS + after.length))
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

/** What a double holds exactly. */
const PLAIN_INTEGER = /^-?\d{1,15}$/

const formatInteger: Builtin = (args, { meter }) => {
  const { text } = numberOperand(args, 0)
  const base = numberOperand(args, 1).toNumber()
  if (PLAIN_INTEGER.test(text)) return Number(text).toString(base)
  // With an exponent, the number is made binary first.
  const isPlain = !/[.eE]/.test(text)
  const integer = (isPlain ? exactInteger(text, meter) : undefined) ?? truncate(parseGoFloat(text, meter))
  return integer.toString(base)
}

/** From the first place up to the second; places outside of the array are its ends. */
const arraySlice: Builtin = (args, { meter }) => {
  const array = arrayOperand(args, 0)
  const [from, to] = [int64Operand(args, 1), int64Operand(args, 2)]
  meter.spend(array.length)
  const start = from < 0n ? 0 : Number(from)
  return array.slice(start, to < 0n ? 0 : Number(to))
}

/** The parts of a template string: scalars, and a set that holds the value of an expression, if it has one. */
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

export const textAnswers: BuiltinTable = {
  'array.slice': arraySlice,
  concat,
  format_int: formatInteger,
  'internal.template_string': templateString,
  replace,
  'strings.replace_n': replaceMany,
  substring,
}
