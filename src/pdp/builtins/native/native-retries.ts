import { RegoNumber } from '../../rego/value.js'
import type { RegoValue } from '../../rego/value.js'
import type { Builtin, BuiltinTable } from '../builtin.js'
import { int64Operand, operand, stringOperand } from '../operands.js'
import { compilePattern } from '../regex/compile.js'
import { findMatches, isMatch } from '../regex/find-matches.js'
import { goFloatText } from './go-float-text.js'

const toNumber: Builtin = (args) => {
  const value = operand(args, 0)
  const text = typeof value === 'string' ? goFloatText(value) : undefined
  return text === undefined ? undefined : new RegoNumber(text)
}

const regexMatch: Builtin = (args, { meter }) =>
  isMatch(compilePattern(stringOperand(args, 0), meter), stringOperand(args, 1), meter)

const findAllSubmatches: Builtin = (args, { meter }) => {
  const regex = compilePattern(stringOperand(args, 0), meter)
  const text = stringOperand(args, 1)
  const limit = int64Operand(args, 2)
  const found: RegoValue[] = []
  if (limit === 0n) return found
  for (const match of findMatches(regex, text, meter)) {
    found.push(Array.from({ length: regex.groupCount() + 1 }, (_, group) => match.group(group)))
    if (BigInt(found.length) === limit) break
  }
  return found
}

/**
 * Native built-ins of the module that give up where OPA goes on: on numbers in other spellings of Go's, on groups named
 * `(?<name>…)`, on patterns that take C++'s RE2 more memory than it allows itself. What they left undefined is tried again.
 */
export const nativeRetries: BuiltinTable = {
  to_number: toNumber,
  'regex.match': regexMatch,
  'regex.find_all_string_submatch_n': findAllSubmatches,
}
