import { RE2JS, RE2JSSyntaxException } from 're2js'
import { toError } from '../../../errors.js'
import { BuiltinError } from '../builtin.js'

/** Patterns are mostly literals of the policy, so a few hundred cover one; those made from input push out the oldest. */
const CACHE_SIZE = 256

const compiled = new Map<string, RE2JS>()

/**
 * The compiled form of a pattern in Go's syntax, matched in linear time. Raises BuiltinError with Go's text for a
 * pattern that is none.
 */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern)
  const regex = known ?? compile(pattern)
  // Deleting first moves a used pattern to the young end of the map.
  compiled.delete(pattern)
  compiled.set(pattern, regex)
  const oldest = compiled.keys().next()
  if (compiled.size > CACHE_SIZE && oldest.done !== true) compiled.delete(oldest.value)
  return regex
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (raw) {
    throw new BuiltinError(syntaxErrorText(raw))
  }
}

function syntaxErrorText(raw: unknown): string {
  if (!(raw instanceof RE2JSSyntaxException)) return `error parsing regexp: ${toError(raw).message}`
  return `error parsing regexp: ${raw.getDescription()}: \`${raw.getPattern() ?? ''}\``
}
