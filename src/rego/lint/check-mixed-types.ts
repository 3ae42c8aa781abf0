import type { ErrorDetail } from '../../errors/app-error.js'
import { findBetween } from '../modules/tokens/expressions.js'
import { positionIn, startsStatement } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import type { RegoModule } from '../modules/rego-module.js'

/** A reference that a rule compares with a number and passes to a built-in for strings. */
export interface MixedType {
  /** The text of the reference. */
  readonly subject: string
  readonly builtin: string
  readonly offset: number
}

/** Built-ins that fail for a number. */
const OF_STRINGS: ReadonlySet<string> = new Set(
  'concat contains endswith indexof lower replace split startswith substring trim trim_left trim_prefix trim_right trim_space trim_suffix upper regex.match'.split(
    ' ',
  ),
)
const KEYWORDS: ReadonlySet<string> = new Set('if in not else some every with as'.split(' '))

interface Reference {
  readonly text: string
  /** The token after it. */
  readonly end: number
}

/** Returns the references of mixed type in each rule. */
export function findMixedTypes(tokens: readonly Token[]): MixedType[] {
  const found: MixedType[] = []
  let statement: Token[] = []
  for (const [at, token] of tokens.entries()) {
    if (startsStatement(tokens, at) && token.text !== 'else') {
      found.push(...mixedIn(statement))
      statement = []
    }
    statement.push(token)
  }
  return [...found, ...mixedIn(statement)]
}

/** Returns findings about references of mixed type: a call fails and the verdict is undefined. */
export function checkMixedTypes({
  module: { file },
  text,
  mixedTypes,
}: {
  readonly module: RegoModule
  readonly text: string
  readonly mixedTypes: readonly MixedType[]
}): ErrorDetail[] {
  return mixedTypes.map(({ subject, builtin, offset }) => ({
    code: 'mixed_types',
    message: `${subject} is compared with a number in this rule, and ${builtin} fails for numbers, so that there is no verdict; use sprintf("%v", [${subject}])`,
    location: { file, ...positionIn(text, offset) },
  }))
}

function mixedIn(tokens: readonly Token[]): MixedType[] {
  const numbers = new Set(tokens.flatMap((_, at) => comparedWithNumber(tokens, at) ?? []))
  if (numbers.size === 0) return []
  return tokens.flatMap((_, at) => {
    const call = callAt(tokens, at)
    if (call === undefined || !OF_STRINGS.has(call.text)) return []
    return argumentsOf(tokens, call.end)
      .filter(({ text }) => numbers.has(text))
      .map(({ text, offset }) => ({ subject: text, builtin: call.text, offset }))
  })
}

/** The reference of `reference > 3600`. */
function comparedWithNumber(tokens: readonly Token[], at: number): string | undefined {
  const reference = referenceAt(tokens, at)
  const sign = reference && tokens[reference.end]?.text
  if (reference === undefined || (sign !== '<' && sign !== '>')) return undefined
  const after = reference.end + (tokens[reference.end + 1]?.text === '=' ? 2 : 1)
  return tokens[after]?.kind === 'number' ? reference.text : undefined
}

function callAt(tokens: readonly Token[], at: number): Reference | undefined {
  const reference = referenceAt(tokens, at)
  return reference !== undefined && tokens[reference.end]?.text === '(' ? reference : undefined
}

/**
 * Returns the references among the arguments of a call, including those in arrays. Nested calls and
 * comprehensions are left out.
 */
function argumentsOf(tokens: readonly Token[], open: number): { text: string; offset: number }[] {
  const depth = tokens[open]?.depth ?? 0
  const found: { text: string; offset: number }[] = []
  for (let at = open + 1; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || token.depth <= depth) break
    const reference = referenceAt(tokens, at)
    if (reference !== undefined) {
      const isCall = tokens[reference.end]?.text === '('
      if (!isCall) found.push({ text: reference.text, offset: token.offset })
      at = isCall ? endOf(tokens, reference.end + 1) : reference.end - 1
    } else if (token.text === '|') at = endOf(tokens, at)
  }
  return found
}

/** Returns the token that closes the bracket around a token. */
function endOf(tokens: readonly Token[], at: number): number {
  const depth = tokens[at]?.depth ?? 0
  const end = findBetween(tokens, at, tokens.length, (token) => token.depth < depth)
  return end === -1 ? tokens.length : end
}

/** Returns the reference of names and constants at a token. */
function referenceAt(tokens: readonly Token[], at: number): Reference | undefined {
  const [before, start] = [tokens[at - 1], tokens[at]]
  if (start?.kind !== 'name' || KEYWORDS.has(start.text) || before?.text === '.') return undefined
  let [text, end] = [start.text, at + 1]
  for (;;) {
    const [sign, member, close] = [tokens[end], tokens[end + 1], tokens[end + 2]]
    if (sign?.text === '.' && member?.kind === 'name') end += 2
    else if (sign?.text === '[' && member?.kind === 'string' && close?.text === ']') end += 3
    else return { text, end }
    text = `${text}${sign.text}${member.text}${sign.text === '[' ? ']' : ''}`
  }
}
