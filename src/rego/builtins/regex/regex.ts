import type { RegoValue } from '../../values/value.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { int64Operand, stringOperand } from '../shared/operands.js'
import { compilePattern } from './compile.js'
import { compileDelimitedTemplate } from './delimited-template.js'
import { parseTemplate } from './expand-template.js'
import { findMatches, isMatch } from './find-matches.js'
import { globsIntersect } from './intersect-globs.js'
import { ensureResultLength } from '../shared/call-costs.js'

const findN: Builtin = (args, { meter }) => {
  const regex = compilePattern(stringOperand(args, 0), meter)
  const text = stringOperand(args, 1)
  const limit = int64Operand(args, 2)
  const found: string[] = []
  if (limit === 0n) return found
  for (const match of findMatches(regex, text, meter)) {
    found.push(match.group(0))
    if (BigInt(found.length) === limit) break
  }
  return found
}

const replace: Builtin = (args, { meter }) => {
  const text = stringOperand(args, 0)
  const regex = compilePattern(stringOperand(args, 1), meter)
  const replacement = parseTemplate(stringOperand(args, 2), meter)
  let result = ''
  let at = 0
  for (const match of findMatches(regex, text, meter)) {
    result += text.slice(at, match.start) + replacement(match)
    ensureResultLength(result.length, meter)
    at = match.end
  }
  return result + text.slice(at)
}

const split: Builtin = (args, { meter }) => {
  const pattern = stringOperand(args, 0)
  const regex = compilePattern(pattern, meter)
  const text = stringOperand(args, 1)
  if (pattern !== '' && text === '') return ['']
  const pieces: RegoValue[] = []
  let at = 0
  let end = 0
  for (const match of findMatches(regex, text, meter)) {
    end = match.start
    if (match.end !== 0) pieces.push(text.slice(at, end))
    at = match.end
  }
  if (end !== text.length) pieces.push(text.slice(at))
  return pieces
}

const templateMatch: Builtin = (args, { meter }) => {
  const template = stringOperand(args, 0)
  const text = stringOperand(args, 1)
  const open = delimiterOperand(args, 2, 'start')
  const close = delimiterOperand(args, 3, 'end')
  return isMatch(compileDelimitedTemplate(template, open, close, meter), text, meter)
}

/** OPA counts bytes here, and names the length of the start delimiter in both texts. */
function delimiterOperand(args: readonly RegoValue[], index: number, name: string): string {
  const delimiter = stringOperand(args, index)
  if (Buffer.byteLength(delimiter) === 1) return delimiter
  const shownLength = Buffer.byteLength(stringOperand(args, 2))
  throw new BuiltinError(`${name} delimiter has to be exactly one character long but is ${shownLength} long`)
}

const globsMatch: Builtin = (args, { meter }) =>
  globsIntersect(stringOperand(args, 0), stringOperand(args, 1), meter)

const isValid: Builtin = (args, { meter }) => {
  const [pattern] = args
  return typeof pattern === 'string' && passes(() => compilePattern(pattern, meter))
}

export const regexBuiltins: BuiltinTable = {
  'regex.find_n': findN,
  'regex.globs_match': globsMatch,
  'regex.is_valid': isValid,
  'regex.replace': replace,
  'regex.split': split,
  'regex.template_match': templateMatch,
}
