import { ShortTurns } from '../../lib/turns/short-turns.js'
import { pathKey } from '../rego/path-key.js'
import { importedData, withoutTemplates } from './order-modifiers.js'
import { isClosing, isMember, isOpening, readTokens, touches } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import type { RegoModule } from './rego-module.js'
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
 * negation would be undefined, and `every` true. Rows stay as they are, columns behind do not. The very same modules where there is none.
 */
export async function wrapLookups(modules: readonly RegoModule[]): Promise<readonly RegoModule[]> {
  const turns = new ShortTurns()
  const longRules = longRulesByPackage(modules)
  const wrapped: RegoModule[] = []
  for (const module of modules) {
    const text = wrapIn(module.text, longRules.get(pathKey(module.packagePath)) ?? new Set())
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

function wrapIn(source: string, longRules: ReadonlySet<string>): string {
  if (!/\b(?:not|every)\b/.test(source)) return source
  // Most policies look nothing up by a variable but in their input, which is told without reading them.
  if (longRules.size === 0 && !/\bdata\b/.test(source)) return source
  const { tokens } = readTokens(withoutTemplates(source, findTemplateStrings(source)))
  const isLookup = findLookups(tokens, longRules)
  const edits = tokens.flatMap((token, at) => {
    if (token.kind !== 'name' || isMember(tokens, at)) return []
    if (token.text === 'not') return editNegation(tokens, at, isLookup)
    return token.text === 'every' ? editEvery(tokens, at, isLookup) : []
  })
  return applyEdits(source, edits)
}

type IsLookup = (from: number, to: number) => boolean

/** Tells whether a lookup by a variable begins among some tokens. */
function findLookups(tokens: readonly Token[], longRules: ReadonlySet<string>): IsLookup {
  const roots = new Set(['data', ...importedData(tokens), ...longRules])
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

function editNegation(tokens: readonly Token[], at: number, isLookup: IsLookup): Edit[] {
  const end = endOfExpression(tokens, at + 1)
  const depth = tokens[at]?.depth
  const modifiers = tokens.findIndex(
    (token, place) => place > at && place < end && token.depth === depth && token.text === 'with',
  )
  const [from, to] = withoutBrackets(tokens, at + 1, modifiers === -1 ? end : modifiers)
  const operands = operandsOf(tokens, from, to)
  const [token, last] = [tokens[at], tokens[(modifiers === -1 ? end : modifiers) - 1]]
  const looksUp = operands.some(
    ([start, close]) => referenceEnd(tokens, start) === close && isLookup(start, close),
  )
  if (token === undefined || last === undefined || !looksUp) return []
  // OPA takes these out of the negation, which is undefined where one of them is.
  const outside = operands.flatMap((operand) => takenOut(tokens, operand)).map((text) => `, ${text}`)
  return [
    { at: token.offset, taken: token.text.length, text: '[[1 |' },
    {
      at: last.offset + last.text.length,
      taken: 0,
      text: `]${outside.join('')}] == [[]${outside.join('')}]`,
    },
  ]
}

type Span = readonly [from: number, to: number]

function withoutBrackets(tokens: readonly Token[], from: number, to: number): Span {
  const isWithin = tokens[from]?.text === '(' && closingOf(tokens, from) === to - 1
  return isWithin ? withoutBrackets(tokens, from + 1, to - 1) : [from, to]
}

/** The two sides of an equation, or all of another expression. */
function operandsOf(tokens: readonly Token[], from: number, to: number): Span[] {
  const depth = tokens[from]?.depth
  const isSign = (at: number): boolean => /^[=!<>:]$/.test(tokens[at]?.text ?? '') && at < to
  const sign = tokens.findIndex((token, at) => at > from && token.depth === depth && isSign(at))
  if (sign === -1 || tokens[sign]?.text !== '=') return [[from, to]]
  const second = tokens[sign + 1]?.text === '=' ? sign + 2 : sign + 1
  return [withoutBrackets(tokens, from, sign), withoutBrackets(tokens, second, to)]
}

/** What of an operand is evaluated before the expression: what is between the brackets of a reference, all of a call or a collection. */
function takenOut(tokens: readonly Token[], [from, to]: Span): string[] {
  if (referenceEnd(tokens, from) !== to) {
    const isScalar = to === from + 1 && tokens[from]?.kind !== 'sign'
    return isScalar ? [] : [textOf(tokens, from, to)]
  }
  return tokens.flatMap(({ text, depth }, at) => {
    const isKey = at > from && at < to && text === '[' && depth === tokens[from]?.depth
    const close = isKey ? closingOf(tokens, at) : at
    const isFixed = close === at + 2 && tokens[at + 1]?.kind !== 'name'
    return isKey && !isFixed ? [textOf(tokens, at + 1, close)] : []
  })
}

/** The place behind a reference that begins at a place: a name with its members and keys, which is not called. */
function referenceEnd(tokens: readonly Token[], start: number): number {
  if (tokens[start]?.kind !== 'name') return start
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    if (sign.text === '.') at += 2
    else if (sign.text === '[') at = closingOf(tokens, at) + 1
    else break
  }
  return at
}

/** The place of what closes the bracket at a place. */
function closingOf(tokens: readonly Token[], open: number): number {
  const depth = tokens[open]?.depth
  return tokens.findIndex((token, at) => at > open && token.depth === depth && isClosing(token))
}

/** Some tokens on one line. */
function textOf(tokens: readonly Token[], from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map(({ text }, place) => (place === 0 || touches(tokens, from + place) ? text : ` ${text}`))
    .join('')
}

function editEvery(tokens: readonly Token[], at: number, isLookup: IsLookup): Edit[] {
  const depth = tokens[at]?.depth
  // The domain may be braces, too: the body is the last that begins behind a value.
  const end = endOfExpression(tokens, at + 1)
  const isOfEvery = ({ text }: Token, place: number, sign: string): boolean =>
    place > at && place < end && text === sign && tokens[place]?.depth === depth
  const open = tokens.findLastIndex((token, place) => isOfEvery(token, place, '{'))
  const close = tokens.findLastIndex((token, place) => isOfEvery(token, place, '}'))
  const [opening, closing] = [tokens[open], tokens[close]]
  if (opening === undefined || closing === undefined || !isLookup(open, close)) return []
  return [
    { at: opening.offset + 1, taken: 0, text: ' [1 |' },
    { at: closing.offset, taken: 0, text: '] != []' },
  ]
}

/** Words that stand between two parts of one expression; `contains` in a body is a call, and begins one. */
const JOINING: ReadonlySet<string> = new Set(['with', 'as', 'in'])

/** The place behind the last token of the expression that begins at a place. */
function endOfExpression(tokens: readonly Token[], start: number): number {
  const depth = tokens[start]?.depth ?? 0
  let at = start + 1
  for (; at < tokens.length; at += 1) {
    const [before, token] = [tokens[at - 1], tokens[at]]
    if (before === undefined || token === undefined || token.depth < depth) break
    if (token.depth > depth || isClosing(token)) continue
    if (token.text === ';' || token.text === ',' || (token.kind === 'name' && token.text === 'else')) break
    if (token.isFirstOnLine && !isJoining(token) && !(isJoining(before) && !isClosing(before))) break
  }
  return at
}

function isJoining({ kind, text }: Token): boolean {
  return kind === 'name' ? JOINING.has(text) : kind === 'sign' && !isOpening(text)
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
