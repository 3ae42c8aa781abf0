import { RegoSet } from '../../rego/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { decodeUtf8 } from '../encoding/go-utf8.js'
import {
  collectionOperand,
  int64Operand,
  numberOperand,
  objectOperand,
  operand,
  stringOperand,
} from '../shared/operands.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { parseGoFloat, truncate } from './go-float.js'
import { aGoInt } from './operand-checks.js'

/** Steps of passing over a byte, and of looking for one text there. */
const PASS_STEPS = 3
const LOOK_STEPS = 3

/** Sets have an order of their own in the module. */
const concat: Builtin = (args) => {
  const texts = operand(args, 1) instanceof RegoSet ? collectionOperand(args, 1) : []
  return texts.map(String).join(stringOperand(args, 0))
}

/** An empty text is found before every character and at the end. */
const replace: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const [before, after] = [stringOperand(args, 1), stringOperand(args, 2)]
  const places = before === '' ? text.length + 1 : text.length / before.length
  ensureResultLength(text.length + places * after.length, meter)
  if (before !== '') return text.replaceAll(before, () => after)
  return Array.from(text).reduce((made, character) => made + character + after, after)
}

/** Go looks at bytes, at each place for one text after another; an empty one is found at each place where none was before. */
const replaceMany: Builtin = (args, { meter }) => {
  const pairs = objectOperand(args, 0).entries.flatMap(([from, to]) =>
    typeof from === 'string' && typeof to === 'string' ? [{ from: bytesOf(from), to: bytesOf(to) }] : [],
  )
  const text = bytesOf(stringOperand(args, 1))
  meter.spend(text.length * (PASS_STEPS + pairs.length * LOOK_STEPS))
  const firsts = new Set(pairs.map(({ from }) => from.charCodeAt(0)))
  const hasEmpty = pairs.some(({ from }) => from === '')
  let made = ''
  let copied = 0
  let wasEmpty = false
  for (let at = 0; at <= text.length;) {
    const isPassed = !hasEmpty && !firsts.has(text.charCodeAt(at))
    const found = isPassed
      ? undefined
      : pairs.find(({ from }) => (from !== '' || !wasEmpty) && text.startsWith(from, at))
    wasEmpty = found?.from === ''
    if (found === undefined) {
      at++
      continue
    }
    made += text.slice(copied, at) + found.to
    ensureResultLength(made.length, meter)
    at += found.from.length
    copied = at
  }
  return decodeUtf8(Buffer.from(made + text.slice(copied), 'latin1'))
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

const formatInteger: Builtin = (args, { meter }) =>
  truncate(parseGoFloat(numberOperand(args, 0).text, meter)).toString(numberOperand(args, 1).toNumber())

export const textAnswers: BuiltinTable = {
  concat,
  format_int: formatInteger,
  replace,
  'strings.replace_n': replaceMany,
  substring,
}

/** One UTF-16 unit for each byte of UTF-8. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}
