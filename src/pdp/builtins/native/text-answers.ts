import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { collectionOperand, int64Operand, numberOperand, operand, stringOperand } from '../shared/operands.js'
import { ensureResultLength } from '../shared/call-costs.js'
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

/** An empty text is found before every character and at the end. */
const replace: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const [before, after] = [stringOperand(args, 1), stringOperand(args, 2)]
  const places = before === '' ? text.length + 1 : text.length / before.length
  ensureResultLength(text.length + places * after.length, meter)
  meter.spend(text.length + places * (JOIN_STEPS + after.length))
  if (before !== '') return text.replaceAll(before, () => after)
  return Array.from(text).reduce((made, character) => made + character + after, after)
}

/** Behind the end of the text, OPA does not look at the length. */
const substring: Builtin = (args, context) => {
  const characters = Array.from(stringOperand(args, 0))
  const start = int64Operand(args, 1)
  if (start >= characters.length) return ''
  if (start < 0) throw new BuiltinError('negative offset')
  aGoInt(operand(args, 2), 2, args, context)
  const length = int64Operand(args, 2)
  return characters.slice(Number(start), length < 0 ? undefined : Number(start + length)).join('')
}

/** What a double holds exactly. */
const PLAIN_INTEGER = /^-?\d{1,15}$/

const formatInteger: Builtin = (args, { meter }) => {
  const { text } = numberOperand(args, 0)
  const base = numberOperand(args, 1).toNumber()
  const integer = PLAIN_INTEGER.test(text) ? Number(text) : truncate(parseGoFloat(text, meter))
  return integer.toString(base)
}

export const textAnswers: BuiltinTable = {
  concat,
  format_int: formatInteger,
  replace,
  'strings.replace_n': replaceMany,
  substring,
}
