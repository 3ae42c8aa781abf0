import { goInteger } from '../values/go-integer.js'
import { RegoNumber, RegoSet, typeName } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { displayText } from './go-format/display-text.js'
import { codePointCount } from './go-format/flags.js'
import { formatGo } from './go-format/printf.js'
import type { GoArgument } from './go-format/verbs.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { lengthOf } from './shared/call-costs.js'
import { arrayOperand, int64Operand, isArray, operand, stringOperand, wrongType } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Steps of comparing two texts or of searching the next occurrence, and per compared character. */
const PAIR_STEPS = 10
const CHARACTER_STEPS = 0.2
/** Steps per character at either end of a text, where V8 compares characters one by one. */
const END_STEPS = 2

const anyPrefixMatch: Builtin = (args, { meter }) => {
  const [texts, prefixes] = [textsOperand(args, 0), textsOperand(args, 1)]
  const steps = pairSteps(prefixes)
  return texts.some((text) => {
    meter.spend(steps)
    return prefixes.some((prefix) => text.startsWith(prefix))
  })
}

function pairSteps(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + PAIR_STEPS + part.length * END_STEPS, 0)
}

const anySuffixMatch: Builtin = (args, { meter }) => {
  const [texts, suffixes] = [textsOperand(args, 0), textsOperand(args, 1)]
  const steps = pairSteps(suffixes)
  return texts.some((text) => {
    meter.spend(steps)
    return suffixes.some((suffix) => text.endsWith(suffix))
  })
}

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

const count: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const part = stringOperand(args, 1)
  if (part === '') return RegoNumber.of(codePointCount(text) + 1)
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    meter.spend(PAIR_STEPS)
    found++
  }
  return RegoNumber.of(found)
}

/** Bytes per number of the result. */
const INDEX_BYTES = 64

/** Returns every occurrence, including overlapping ones, in code points. */
const indexOfEach: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const part = stringOperand(args, 1)
  if (part === '') throw new BuiltinError('empty search character')
  const indexes: RegoNumber[] = []
  let index = 0
  let counted = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    // The next search may compare the whole part again.
    meter.spend(PAIR_STEPS + part.length * CHARACTER_STEPS)
    meter.reserve(INDEX_BYTES)
    index += codePointCount(text.slice(counted, at))
    counted = at
    indexes.push(RegoNumber.of(index))
  }
  return indexes
}

/** Returns the first `n` parts, or the last `-n`. */
const splitN: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const delimiter = stringOperand(args, 1)
  const count = Number(int64Operand(args, 2))
  const parts = delimiter === '' ? Array.from(text) : text.split(delimiter)
  meter.spend(parts.length * PAIR_STEPS)
  meter.reserve(parts.length * INDEX_BYTES)
  // Go splits an empty text into no characters, but by a delimiter into one part.
  return count >= 0 ? parts.slice(0, count) : parts.slice(count)
}

const QUOTING_STEPS = 20

const sprintf: Builtin = (args, { meter }) => {
  const format = stringOperand(args, 0)
  const values = arrayOperand(args, 1)
  for (const value of values) meter.spend(displaySteps(value))
  return formatGo(format, values.map(toGoArgument), meter)
}

/** Strings in collections are quoted. */
function displaySteps(value: RegoValue): number {
  return value instanceof RegoNumber || typeof value === 'string' ? 0 : lengthOf(value) * QUOTING_STEPS
}

/** OPA passes numbers and strings to Go's formatter unchanged, and other values as Rego text. */
function toGoArgument(value: RegoValue): GoArgument {
  if (value instanceof RegoNumber) return toGoNumber(value)
  return { type: 'string', value: typeof value === 'string' ? value : displayText(value) }
}

/** Converts by text like OPA: `1.0` is an integer, `1.5` a float, `1e3` stays text. */
function toGoNumber({ text }: RegoNumber): GoArgument {
  const integer = goInteger(text)
  if (integer !== undefined) return { type: 'int64', value: integer }
  if (/^-?\d+$/.test(text)) return { type: '*big.Int', value: BigInt(text) }
  const value = Number(text)
  return text.includes('.') && Number.isFinite(value)
    ? { type: 'float64', value }
    : { type: 'string', value: text }
}

const UNDEFINED = '<undefined>'

/** The compiled form of `print`: an array with a set per argument. Returns true. */
const internalPrint: Builtin = (args, { print, meter }) => {
  if (print === undefined) return true
  const list = operand(args, 0)
  for (const line of linesOf(isArray(list) ? list : [], (length) => meter.reserve(length * 2))) print(line)
  return true
}

/** Returns a line for each combination of values, as in OPA: an argument may have several. */
function linesOf(operands: readonly RegoValue[], reserve: (length: number) => void): string[] {
  let lines = ['']
  for (const [index, value] of operands.entries()) {
    const texts = textsOf(value)
    lines = lines.flatMap((line) =>
      texts.map((text) => {
        reserve(line.length + text.length + 1)
        return index === 0 ? text : `${line} ${text}`
      }),
    )
  }
  return lines
}

function textsOf(value: RegoValue): readonly string[] {
  if (!(value instanceof RegoSet)) return [textOf(value)]
  return value.members.length === 0 ? [UNDEFINED] : value.members.map(textOf)
}

function textOf(value: RegoValue): string {
  return typeof value === 'string' ? value : displayText(value)
}

export const stringBuiltins: BuiltinTable = {
  indexof_n: indexOfEach,
  'internal.print': internalPrint,
  sprintf,
  'strings.any_prefix_match': anyPrefixMatch,
  'strings.any_suffix_match': anySuffixMatch,
  'strings.count': count,
  'strings.split_n': splitN,
}
