import { ShortTurns } from '../../lib/turns/short-turns.js'
import { pathKey } from '../values/path-key.js'
import { withoutTemplates } from './order-modifiers.js'
import type { RegoModule } from './rego-module.js'
import {
  argumentsOf,
  closingOf,
  endOfExpression,
  operandsOf,
  referenceEnd,
  textOf,
  withoutBrackets,
} from './tokens/expressions.js'
import type { Span } from './tokens/expressions.js'
import { moduleKeywords } from './tokens/module-keywords.js'
import { readImports } from './tokens/read-imports.js'
import type { Import } from './tokens/read-imports.js'
import { isMember, readTokens, touches } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import { findTemplateStrings } from './tokens/template-strings.js'

/** A text that goes into another at a place, in the stead of so many letters. */
interface Edit {
  readonly at: number
  readonly taken: number
  readonly text: string
}

/**
 * The modules with negations, and bodies of `every`, that look a package or a rule up by a variable (`not data.app[input.x].v == 0`) as comprehensions that
 * are empty or not. OPA's compiler to WebAssembly (up to OPA 1.20) goes on behind such a lookup where what follows it fails (`planRef` within a `NotStmt`): the
 * negation would be undefined, and `every` true; so would a negation of `walk`, which it goes through to its end whatever it finds. Rows stay as they are, columns behind do not. The very same modules where there is none.
 */
export async function wrapLookups(
  modules: readonly RegoModule[],
  laterKeywords: readonly string[],
): Promise<readonly RegoModule[]> {
  const turns = new ShortTurns()
  const longRules = longRulesByPackage(modules)
  const wrapped: RegoModule[] = []
  for (const module of modules) {
    const text = wrapIn(module, longRules.get(pathKey(module.packagePath)) ?? new Set(), laterKeywords)
    wrapped.push(text === module.text ? module : { ...module, text })
    await turns.pause()
  }
  return wrapped.every((module, place) => module === modules[place]) ? modules : wrapped
}

/** What references of rules begin with that go on behind a name, as `limits` of `limits.prod := 5`, by package. */
function longRulesByPackage(modules: readonly RegoModule[]): Map<string, Set<string>> {
  const byPackage = new Map<string, Set<string>>()
  for (const { packagePath, rules } of modules) {
    const key = pathKey(packagePath)
    const names = byPackage.get(key) ?? new Set()
    for (const { path, isDynamic } of rules)
      if (path[0] !== undefined && (path.length > 1 || isDynamic)) names.add(path[0])
    byPackage.set(key, names)
  }
  return byPackage
}

/** What is known of a module. */
interface Reading {
  readonly tokens: readonly Token[]
  readonly keywords: ReadonlySet<string>
  /** Whether a lookup by a variable begins among some tokens. */
  readonly isLookup: (from: number, to: number) => boolean
}

function wrapIn(
  { text: source, version }: RegoModule,
  longRules: ReadonlySet<string>,
  laterKeywords: readonly string[],
): string {
  if (!/\b(?:not|every)\b/.test(source)) return source
  // Most policies look nothing up by a variable but in their input, which is told without reading them.
  if (longRules.size === 0 && !/\b(?:data|walk|future)\b/.test(source)) return source
  const { tokens } = readTokens(withoutTemplates(source, findTemplateStrings(source)))
  const imports = readImports(tokens)
  const keywords = moduleKeywords(version, imports, laterKeywords)
  const reading = { tokens, keywords, isLookup: findLookups(tokens, imports, longRules) }
  const edits = tokens.flatMap((token, at) => {
    if (token.kind !== 'name' || isMember(tokens, at)) return []
    if (token.text === 'not') return editNegation(reading, at)
    return token.text === 'every' && keywords.has('every') ? editEvery(reading, at) : []
  })
  return applyEdits(source, edits)
}

function findLookups(
  tokens: readonly Token[],
  imports: readonly Import[],
  longRules: ReadonlySet<string>,
): Reading['isLookup'] {
  const imported = imports.flatMap(({ path, name }) => (path[0] === 'data' ? [name] : []))
  const roots = new Set(['data', ...imported, ...longRules])
  const places = tokens.flatMap(({ kind, text }, at) =>
    kind === 'name' && roots.has(text) && !isMember(tokens, at) && goesOnWithVariable(tokens, at) ? [at] : [],
  )
  return (from, to) => places.some((place) => place >= from && place < to)
}

/** Whether one of the brackets of a reference, which touch what is before them, holds anything but a fixed key. */
function goesOnWithVariable(tokens: readonly Token[], start: number): boolean {
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    if (sign.text === '.') at += 2
    else if (sign.text !== '[') return false
    else if (tokens[at + 2]?.text !== ']' || tokens[at + 1]?.kind === 'name') return true
    else at += 3
  }
  return false
}

function editNegation(reading: Reading, at: number): Edit[] {
  const { tokens, keywords, isLookup } = reading
  const end = endOfExpression(tokens, at + 1, keywords)
  const depth = tokens[at]?.depth
  const modifiers = tokens.findIndex(
    ({ text, depth: own }, place) =>
      place > at && place < end && own === depth && text === 'with' && !isMember(tokens, place),
  )
  const close = modifiers === -1 ? end : modifiers
  if (keywords.has('not')) return editNegatedBody(reading, at, close)
  const [from, to] = withoutBrackets(tokens, at + 1, close)
  const walked = tokens[from]?.text === 'walk' ? argumentsOf(tokens, from + 1, to) : []
  const operands = operandsOf(tokens, from, to, keywords)
  const looksUp = operands.some(
    ([start, until]) => referenceEnd(tokens, start) === until && isLookup(start, until),
  )
  if (walked.length === 0 && !looksUp) return []
  // OPA takes these out of the negation, which is undefined where one of them is.
  const outside =
    walked.length > 0
      ? walked.flatMap(([start, until]) => takenWhole(tokens, start, until))
      : operands.flatMap((operand) => takenOut(tokens, operand))
  const others = outside.map((text) => `, ${text}`).join('')
  return replaceNegation(tokens, at, close, ['[[1 |', `]${others}] == [[]${others}]`])
}

/** Of a negation of the later keyword, which holds all that it is written with: OPA takes nothing out of it. */
function editNegatedBody({ tokens, isLookup }: Reading, at: number, close: number): Edit[] {
  const isInBraces = tokens[at + 1]?.text === '{' && closingOf(tokens, at + 1) === close - 1
  if (!isInBraces && !isLookup(at, close)) return []
  return isInBraces
    ? wrapBody(tokens, at + 1, close - 1)
    : replaceNegation(tokens, at, close, ['[1 |', '] == []'])
}

/** A negation that begins at a place as another expression: `not`, and what follows the last token. */
function replaceNegation(
  tokens: readonly Token[],
  at: number,
  close: number,
  [before, behind]: readonly [string, string],
): Edit[] {
  const [token, last] = [tokens[at], tokens[close - 1]]
  if (token === undefined || last === undefined) return []
  return [
    { at: token.offset, taken: token.text.length, text: before },
    { at: last.offset + last.text.length, taken: 0, text: behind },
  ]
}

/** What of an operand is evaluated before the expression: what is between the brackets of a reference, all of a call or a collection. */
function takenOut(tokens: readonly Token[], [from, to]: Span): string[] {
  if (referenceEnd(tokens, from) !== to) return takenWhole(tokens, from, to)
  return tokens.flatMap(({ text, depth }, at) => {
    const isKey = at > from && at < to && text === '[' && depth === tokens[from]?.depth
    const close = isKey ? closingOf(tokens, at) : at
    const isFixed = close === at + 2 && tokens[at + 1]?.kind !== 'name'
    return isKey && !isFixed ? [textOf(tokens, at + 1, close)] : []
  })
}

/** The text of some tokens unless they are one name or value. */
function takenWhole(tokens: readonly Token[], from: number, to: number): string[] {
  const isScalar = to === from + 1 && tokens[from]?.kind !== 'sign'
  return isScalar ? [] : [textOf(tokens, from, to)]
}

function editEvery({ tokens, keywords, isLookup }: Reading, at: number): Edit[] {
  const depth = tokens[at]?.depth
  // The domain may be braces, too: the body is the last that begins behind a value.
  const end = endOfExpression(tokens, at + 1, keywords)
  const isOfEvery = ({ text }: Token, place: number, sign: string): boolean =>
    place > at && place < end && text === sign && tokens[place]?.depth === depth
  const open = tokens.findLastIndex((token, place) => isOfEvery(token, place, '{'))
  const close = tokens.findLastIndex((token, place) => isOfEvery(token, place, '}'))
  return isLookup(open, close) ? wrapBody(tokens, open, close) : []
}

/** What is between two braces as a comprehension that is not empty. */
function wrapBody(tokens: readonly Token[], open: number, close: number): Edit[] {
  const [opening, closing] = [tokens[open], tokens[close]]
  if (opening === undefined || closing === undefined) return []
  return [
    { at: opening.offset + 1, taken: 0, text: ' [1 |' },
    { at: closing.offset, taken: 0, text: '] != []' },
  ]
}

function applyEdits(source: string, edits: readonly Edit[]): string {
  let out = ''
  let copied = 0
  for (const { at, taken, text } of edits.toSorted((one, other) => one.at - other.at)) {
    out += source.slice(copied, at) + text
    copied = at + taken
  }
  return out + source.slice(copied)
}
