import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { globMatch } from './glob-match.js'
import { arrayOperand, int64Operand, stringOperand } from '../shared/operands.js'
import { compilePattern } from '../regex/compile.js'
import { findMatches, isMatch } from '../regex/find-matches.js'
import { arithmeticAnswers } from './arithmetic-answers.js'
import { bitAnswers } from './bit-answers.js'
import { encodingAnswers } from './encoding-answers.js'
import { networkAnswers } from './network-answers.js'
import { pathAnswers } from './path-answers.js'
import { textAnswers } from './text-answers.js'

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

/** The module gives no value for an empty array, and this for no other. */
const unionOfNone: Builtin = (args) => (arrayOperand(args, 0).length === 0 ? new RegoObject([]) : undefined)

/**
 * Native built-ins of the module as OPA does them, for where the module gives up or answers otherwise (`wasm/native-builtins.ts`
 * tells when). Their operands have been checked.
 */
export const nativeAnswers: BuiltinTable = {
  ...arithmeticAnswers,
  ...bitAnswers,
  ...encodingAnswers,
  ...networkAnswers,
  ...pathAnswers,
  ...textAnswers,
  'glob.match': globMatch,
  'object.union_n': unionOfNone,
  'regex.match': regexMatch,
  'regex.find_all_string_submatch_n': findAllSubmatches,
}
