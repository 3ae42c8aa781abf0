import { createRequire } from 'node:module'
import type * as re2js from 're2js'
import type { RE2JS, RE2JSSyntaxException } from 're2js'

import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import { BoundedCache } from '../../../lib/bounded-cache.js'

/** Most patterns are literals of the policy. Patterns made from input evict the oldest. */
const CACHE_SIZE = 256
/** Larger patterns are not cached, so that the cache stays small. */
const MAX_CACHED_INSTRUCTIONS = 5_000

const DUPLICATE_NAME = 'duplicate capture group name'

const compiled = new BoundedCache<RE2JS>(CACHE_SIZE, () => 1)

/** Compiles a pattern of Go's syntax. Throws BuiltinError with Go's message. */
export function compilePattern(pattern: string, meter: WorkMeter): RE2JS {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const regex = compile(pattern, meter)
  if (regex.programSize() <= MAX_CACHED_INSTRUCTIONS) compiled.set(pattern, regex)
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
    // Go accepts patterns of more than twice this size.
    if (raw.getDescription() === 'expression too large') meter.exceed('a regular expression is too large')
    throw new BuiltinError(syntaxErrorText(raw))
  }
}

/** Go permits repeated group names; a name then refers to the first group. */
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

/** Steps per instruction or character, and per Unicode class without and with folding. */
const PART_STEPS = 300
const UNICODE_STEPS = 3_000
const FOLDED_UNICODE_STEPS = 40_000
const BYTES_PER_INSTRUCTION = 200
/** Maximum copies of one expression by nested repetitions. More are a mistake. */
const MAX_COPIES = 1_000

const REPEAT = /\{(\d+)(?:,(\d*))?\}/y

/** Returns the maximum cost of compiling a pattern, including the copies made by repetitions. */
function compileCost(pattern: string): { steps: number; bytes: number } {
  const { instructions, unicodeClasses } = measurePattern(pattern)
  const isFolded = /\(\?[a-zA-Z]*i/.test(pattern)
  const parts = instructions + pattern.length
  return {
    steps: parts * PART_STEPS + unicodeClasses * (isFolded ? FOLDED_UNICODE_STEPS : UNICODE_STEPS),
    bytes: parts * BYTES_PER_INSTRUCTION,
  }
}

/** Estimates the instructions of a pattern from its groups and repetitions. */
function measurePattern(pattern: string): { instructions: number; unicodeClasses: number } {
  const surrounding: number[] = []
  let unicodeClasses = 0
  let size = 0
  let last = 0
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        at++
        if (pattern[at] === 'p' || pattern[at] === 'P') unicodeClasses++
        last = 1
        break
      case '(':
        surrounding.push(size)
        size = 0
        last = 0
        break
      case ')':
        last = size + 2
        size = surrounding.pop() ?? 0
        break
      case '{': {
        REPEAT.lastIndex = at
        const [text, least = '0', most] = REPEAT.exec(pattern) ?? []
        const times = Math.max(Number(least), Number(most ?? 0))
        // The first copy is already counted. Each optional copy adds one instruction.
        const copies = text === undefined ? 1 : Math.max(0, times - 1) * (last + 1)
        size += copies
        last += copies
        at += text === undefined ? 0 : text.length - 1
        continue
      }
      default:
        last = 1
    }
    size += last
  }
  const instructions = surrounding.reduce((sum, one) => sum + one, size)
  return { instructions: Math.min(instructions, pattern.length * MAX_COPIES), unicodeClasses }
}

type Re2 = typeof re2js

const require = createRequire(import.meta.url)
let library: Re2 | undefined

/** Loads RE2 for JavaScript, which is large, before policies with patterns serve. */
export function re2(): Re2 {
  return (library ??= require('re2js') as Re2)
}
