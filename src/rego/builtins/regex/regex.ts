import type { RE2JS } from 're2js'

import type { WorkMeter } from '../../metering/work-meter.js'
import type { RegoValue } from '../../values/value.js'
import { quoteGoString } from '../go-format/quote.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { int64Operand, stringOperand } from '../shared/operands.js'
import { compilePattern, re2 } from './compile.js'
import { findMatches, isMatch } from './find-matches.js'
import type { Match } from './find-matches.js'
import { globsIntersect } from './intersect-globs.js'

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

/** OPA counts bytes here, and both messages name the length of the start delimiter. */
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

/**
 * Compiles a text with regular expressions between two delimiters (`urn:foo:<.*>`). The rest is
 * literal, and the whole text must match. Throws BuiltinError for unbalanced delimiters or an
 * invalid expression.
 */
function compileDelimitedTemplate(template: string, open: string, close: string, meter: WorkMeter): RE2JS {
  const { RE2JS: engine } = re2()
  let pattern = '^'
  let at = 0
  for (const [start, end] of delimitedExtents(template, open, close)) {
    const expression = template.slice(start + 1, end - 1)
    // Each expression must be valid alone, so that `a)(b` cannot reach outside of its delimiters.
    compilePattern(`^${expression}$`, meter)
    pattern += `${engine.quote(template.slice(at, start))}(${expression})`
    at = end
  }
  return compilePattern(`${pattern}${engine.quote(template.slice(at))}$`, meter)
}

/** Returns the outermost ranges between the delimiters, including these. */
function delimitedExtents(template: string, open: string, close: string): [number, number][] {
  const extents: [number, number][] = []
  let level = 0
  let start = 0
  for (let i = 0; i < template.length; i++) {
    if (template[i] === open) {
      if (level === 0) start = i
      level++
    } else if (template[i] === close) {
      level--
      if (level === 0) extents.push([start, i + 1])
      if (level < 0) break
    }
  }
  if (level !== 0) throw new BuiltinError(`unbalanced braces in ${quoteGoString(template)}`)
  return extents
}

/** A part of a replacement template: literal text or a group of the match. */
type Piece = { readonly text: string } | { readonly group: number | string }

/** Cost in evaluation steps of inserting one part, and of parsing one. */
const PIECE_STEPS = 10
const REFERENCE_STEPS = 40

const REFERENCE = /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu

/**
 * Parses Go's replacement syntax (`$1`, `$name` with the longest name, `${name}`, `$$`; any other
 * `$` is literal). Returns a function that expands it for a match and ends the evaluation if the
 * result becomes too long.
 */
function parseTemplate(template: string, meter: WorkMeter): (match: Match) => string {
  const pieces: Piece[] = []
  let at = 0
  for (const reference of template.matchAll(REFERENCE)) {
    meter.spend(REFERENCE_STEPS)
    pieces.push({ text: template.slice(at, reference.index) })
    const name = reference[1] ?? reference[2]
    pieces.push(name === undefined ? { text: '$' } : { group: /^\d+$/.test(name) ? Number(name) : name })
    at = reference.index + reference[0].length
  }
  pieces.push({ text: template.slice(at) })
  return (match) => expand(pieces, match, meter)
}

function expand(pieces: readonly Piece[], match: Match, meter: WorkMeter): string {
  let result = ''
  for (const piece of pieces) {
    meter.spend(PIECE_STEPS)
    result += 'text' in piece ? piece.text : match.group(piece.group)
    ensureResultLength(result.length, meter)
  }
  return result
}
