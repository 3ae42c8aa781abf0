import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-bytes.js'
import { AppError } from '../../../errors/app-error.js'

/**
 * Maximum nesting of documents from the orchestrator. Each execution inside the trigger of another
 * adds two levels. Much deeper documents would overflow the stack of recursive code.
 */
export const MAX_NESTING = 512

/**
 * Whether objects and arrays are nested more than `levels` deep in a JSON text. Call it before
 * `JSON.parse`, whose result may be too deep for recursive code such as `JSON.stringify`. The
 * result for malformed JSON is arbitrary.
 */
export function nestsDeeper(json: string, levels: number): boolean {
  if (!opensMore(json, levels)) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) at = closingQuote(json, at + 1)
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      if (++depth > levels) return true
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--
  }
  return false
}

/**
 * Whether there are more opening brackets than `count`, including those inside strings. A fast
 * preliminary check: `indexOf` compares many bytes at a time.
 */
function opensMore(json: string, count: number): boolean {
  let opened = 0
  for (const bracket of ['{', '[']) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      if (++opened > count) return true
    }
  }
  return false
}

/**
 * Whether a JSON text contains more than `count` values, including nested ones. Call it before
 * validation by a schema, which reports a problem for each wrong value. The result for malformed
 * JSON is arbitrary.
 */
export function holdsMoreValues(json: string, count: number): boolean {
  // Each value takes a character and a separator.
  if (json.length < count) return false
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) at = closingQuote(json, at + 1)
    else if (unit === COMMA || unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      if (++values > count) return true
    }
  }
  return false
}

/** Returns the end of the string that starts at `from`, or the end of the text. */
function closingQuote(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (at - backslashes > from && json.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return json.length
}

/** Returns the error for a body nested deeper than `MAX_NESTING`. */
export function nestedTooDeeply(): AppError {
  const text = `the body is nested too deeply: at most ${MAX_NESTING} levels are read`
  return new AppError('invalid', text, { code: 'nested_too_deeply' })
}
