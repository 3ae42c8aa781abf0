import type { RE2JS, RE2JSSyntaxException } from 're2js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import { RecentlyUsed } from '../shared/recently-used.js'
import { compileCost } from './compile-cost.js'
import { re2 } from './re2.js'

/** Patterns are mostly literals of the policy, so a few hundred cover one; those made from input push out the oldest. */
const CACHE_SIZE = 256
/** A larger one is compiled each time, so that the cache cannot fill the memory. */
const MAX_CACHED_INSTRUCTIONS = 5_000

const DUPLICATE_NAME = 'duplicate capture group name'

const compiled = new RecentlyUsed<RE2JS>(CACHE_SIZE)

/**
 * The compiled form of a pattern in Go's syntax, matched in linear time. Raises BuiltinError with Go's text for a
 * pattern that is none.
 */
export function compilePattern(pattern: string, meter: WorkMeter): RE2JS {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const regex = compile(pattern, meter)
  if (regex.programSize() <= MAX_CACHED_INSTRUCTIONS) compiled.add(pattern, regex)
  return regex
}

function compile(pattern: string, meter: WorkMeter): RE2JS {
  const { steps, bytes } = compileCost(pattern)
  meter.spend(steps)
  meter.reserve(bytes)
  try {
    return re2().RE2JS.compile(pattern)
  } catch (raw) {
    if (!(raw instanceof re2().RE2JSSyntaxException)) throw raw
    const renamed = raw.getDescription() === DUPLICATE_NAME ? withoutRepeatedNames(pattern) : pattern
    if (renamed !== pattern) return compile(renamed, meter)
    // Go takes patterns of more than twice that size.
    if (raw.getDescription() === 'expression too large') meter.exceed('a regular expression is too large')
    throw new BuiltinError(syntaxErrorText(raw))
  }
}

/** Go lets groups share a name; where one is asked for by its name, the first is meant. */
function withoutRepeatedNames(pattern: string): string {
  const names = new Set<string>()
  return pattern.replaceAll(/\\.|\(\?P?<(\w+)>/gs, (group, name: string | undefined) => {
    if (name === undefined) return group
    if (names.has(name)) return '('
    names.add(name)
    return group
  })
}

function syntaxErrorText(error: RE2JSSyntaxException): string {
  return `error parsing regexp: ${error.getDescription()}: \`${error.getPattern() ?? ''}\``
}
