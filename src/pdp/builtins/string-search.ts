import { RegoNumber, RegoSet, typeName } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import { BuiltinError } from './builtin.js'
import type { Builtin, BuiltinTable } from './builtin.js'
import { codePointCount } from './go-format/flags.js'
import { isArray, operand, stringOperand, wrongType } from './operands.js'

type Args = readonly RegoValue[]

const anyPrefixMatch: Builtin = (args) => {
  const [texts, prefixes] = [textsOperand(args, 0), textsOperand(args, 1)]
  return texts.some((text) => prefixes.some((prefix) => text.startsWith(prefix)))
}

const anySuffixMatch: Builtin = (args) => {
  const [texts, suffixes] = [textsOperand(args, 0), textsOperand(args, 1)]
  return texts.some((text) => suffixes.some((suffix) => text.endsWith(suffix)))
}

/** A string, or the strings of an array or set. */
function textsOperand(args: Args, index: number): readonly string[] {
  const value = operand(args, index)
  if (typeof value === 'string') return [value]
  if (isArray(value)) return allTexts(value, index, 'array')
  if (value instanceof RegoSet) return allTexts(value.members, index, 'set')
  return wrongType(index, value, 'string', 'set', 'array')
}

function allTexts(
  values: readonly RegoValue[],
  index: number,
  container: 'array' | 'set',
): readonly string[] {
  return values.map((value) => {
    if (typeof value === 'string') return value
    throw new BuiltinError(
      `operand ${index + 1} must be ${container} of strings but got ${container} containing ${typeName(value)}`,
      'eval_type_error',
    )
  })
}

const count: Builtin = (args) => {
  const text = stringOperand(args, 0)
  const part = stringOperand(args, 1)
  if (part === '') return RegoNumber.of(codePointCount(text) + 1)
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++
  return RegoNumber.of(found)
}

/** Every place of the part, overlapping ones too, counted in code points. */
const indexOfEach: Builtin = (args) => {
  const text = stringOperand(args, 0)
  const part = stringOperand(args, 1)
  if (part === '') throw new BuiltinError('empty search character')
  const places: RegoNumber[] = []
  let place = 0
  let counted = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    place += codePointCount(text.slice(counted, at))
    counted = at
    places.push(RegoNumber.of(place))
  }
  return places
}

export const stringSearchBuiltins: BuiltinTable = {
  indexof_n: indexOfEach,
  'strings.any_prefix_match': anyPrefixMatch,
  'strings.any_suffix_match': anySuffixMatch,
  'strings.count': count,
}
