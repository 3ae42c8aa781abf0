import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-bytes.js'
import { AppError } from '../../../errors/app-error.js'

/**
 * As deep as documents of the orchestrator are read. An execution inside the trigger of another adds two levels each; what is far
 * deeper would exhaust the stack of whatever is recursive.
 */
export const MAX_NESTING = 512

/**
 * Whether objects and arrays stand more than `levels` deep in a JSON text. To be asked before `JSON.parse`: what that gives may
 * be too deep for everything recursive, `JSON.stringify` first of all. Of a text that is no JSON it says something or other.
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

/** Whether there are more opening brackets than this, within texts or not: the engine looks for one at a time many bytes at once. */
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
 * Whether a JSON text holds more than `count` values, those within others included. To be asked before a schema reads it: that
 * makes a problem of each value that is wrong. Of a text that is no JSON it says something or other.
 */
export function holdsMoreValues(json: string, count: number): boolean {
  // Each takes a character, and something between it and the next.
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

/** Where the text that begins at `from` ends, or the end of the whole text; the engine looks for quotes a word at a time. */
function closingQuote(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (at - backslashes > from && json.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return json.length
}

/** The error for a body nested deeper than `MAX_NESTING`. */
export function nestedTooDeeply(): AppError {
  const text = `the body is nested too deeply: at most ${MAX_NESTING} levels are read`
  return new AppError('invalid', text, { code: 'nested_too_deeply' })
}
