import type { WorkMeter } from '../../metering/work-meter.js'
import type { RegoValue } from '../../values/value.js'
import { bytesOf } from './bytes.js'
import { compileGlob } from './compile-pattern.js'
import type { Matcher } from './matcher.js'
import { parsePattern } from './parse-pattern.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { isArray, operand, stringOperand } from '../shared/operands.js'
import { BoundedCache } from '../../../lib/bounded-cache.js'

/** Most patterns are literals of the policy. */
const CACHE_SIZE = 256
/** Longer patterns, including delimiters, are not cached, so that the cache stays small. */
const MAX_CACHED_LENGTH = 500
const DEFAULT_DELIMITERS = ['.']
/** Cost in evaluation steps per character of a pattern and of a text. */
const PATTERN_STEPS = 20
const TEXT_STEPS = 1

const compiled = new BoundedCache<Matcher>(CACHE_SIZE, () => 1)

/** `glob.match(pattern, delimiters, text)`, as in OPA's glob library. */
export const globMatch: Builtin = (args, { meter }) => {
  const delimiters = delimitersOf(operand(args, 1))
  const text = stringOperand(args, 2)
  const matcher = matcherOf(stringOperand(args, 0), delimiters, meter)
  meter.spend(text.length * TEXT_STEPS)
  return matcher.matches(bytesOf(text), meter)
}

/** Null means no delimiters; an empty list means a dot. */
function delimitersOf(value: RegoValue): readonly string[] {
  if (!isArray(value)) return []
  if (value.length === 0) return DEFAULT_DELIMITERS
  return value.map((one) => {
    if (typeof one === 'string' && Array.from(one).length === 1) return one
    throw new BuiltinError(
      'operand 2 must be array of runes but got array containing string',
      'eval_type_error',
    )
  })
}

function matcherOf(pattern: string, delimiters: readonly string[], meter: WorkMeter): Matcher {
  // Each delimiter is one character, so their number marks the start of the pattern.
  const key = `${delimiters.length}:${delimiters.join('')}${pattern}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  meter.spend(pattern.length * PATTERN_STEPS)
  const matcher = compileGlob(parsePattern(pattern), delimiters.map(bytesOf), meter)
  if (key.length <= MAX_CACHED_LENGTH) compiled.set(key, matcher)
  return matcher
}

const quoteMeta: Builtin = (args) => stringOperand(args, 0).replace(/[*?\\[\]{}]/g, '\\$&')

export const globQuoteBuiltins: BuiltinTable = { 'glob.quote_meta': quoteMeta }
