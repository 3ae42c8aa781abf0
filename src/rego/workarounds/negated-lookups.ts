import type { RegoModule } from '../modules/rego-module.js'
import { applyEdits, rewriteModules } from '../modules/rewrite-modules.js'
import type { Edit } from '../modules/rewrite-modules.js'
import {
  argumentsOf,
  closingOf,
  endOfExpression,
  findBetween,
  operandsOf,
  referenceEnd,
  textOf,
  withoutBrackets,
} from '../modules/tokens/expressions.js'
import type { Span } from '../modules/tokens/expressions.js'
import { moduleKeywords } from '../modules/tokens/module-keywords.js'
import { readImports } from '../modules/tokens/read-imports.js'
import type { Import } from '../modules/tokens/read-imports.js'
import { isMember, readTokens, touches } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import { findTemplateStrings, withoutTemplates } from '../modules/tokens/template-strings.js'
import { pathKey } from '../values/path-key.js'

/**
 * Rewrites negations and bodies of `every` that look a package or rule up by a variable
 * (`not data.app[input.x].v == 0`) as comparisons of a comprehension with an empty one.
 *
 * Fault: code compiled to WebAssembly continues after such a lookup if the expression after it
 * fails (`planRef` in a `NotStmt`). The negation is then undefined and `every` is true. A negation
 * of `walk`, which iterates to its end, has the same fault.
 * Versions: 0.70 and 1.x up to 1.20.2.
 * Upstream: related to open-policy-agent/opa#3279 and #3287.
 *
 * Lines stay, columns after an expression do not. Returns the given array if there is no such
 * expression.
 */
export async function wrapLookups(
  modules: readonly RegoModule[],
  laterKeywords: readonly string[],
): Promise<readonly RegoModule[]> {
  const longRules = longRulesByPackage(modules)
  return await rewriteModules(modules, (module) =>
    wrapIn(module, longRules.get(pathKey(module.packagePath)) ?? new Set(), laterKeywords),
  )
}

/**
 * Returns the first names of rules with longer references, as in `limits.prod := 5`, by package.
 */
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

interface Context {
  readonly tokens: readonly Token[]
  readonly keywords: ReadonlySet<string>
  /** True if a lookup by a variable begins between two token indices. */
  readonly isLookup: (from: number, to: number) => boolean
}

function wrapIn(
  { text: source, version }: RegoModule,
  longRules: ReadonlySet<string>,
  laterKeywords: readonly string[],
): string {
  if (!/\b(?:not|every)\b/.test(source)) return source
  if (longRules.size === 0 && !/\b(?:data|walk|future)\b/.test(source)) return source
  const { tokens } = readTokens(withoutTemplates(source, findTemplateStrings(source)))
  const imports = readImports(tokens)
  const keywords = moduleKeywords(version, imports, laterKeywords)
  const context = { tokens, keywords, isLookup: findLookups(tokens, imports, longRules) }
  const edits = tokens.flatMap((token, at) => {
    if (token.kind !== 'name' || isMember(tokens, at)) return []
    if (token.text === 'not') return editNegation(context, at)
    return token.text === 'every' && keywords.has('every') ? editEvery(context, at) : []
  })
  return applyEdits(source, edits)
}

function findLookups(
  tokens: readonly Token[],
  imports: readonly Import[],
  longRules: ReadonlySet<string>,
): Context['isLookup'] {
  const imported = imports.flatMap(({ path, name }) => (path[0] === 'data' ? [name] : []))
  const roots = new Set(['data', ...imported, ...longRules])
  const lookups = tokens.flatMap(({ kind, text }, at) =>
    kind === 'name' && roots.has(text) && !isMember(tokens, at) && hasVariableKey(tokens, at) ? [at] : [],
  )
  return (from, to) => lookups.some((at) => at >= from && at < to)
}

/** True if a key of the reference is not a constant. */
function hasVariableKey(tokens: readonly Token[], start: number): boolean {
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    if (sign.text === '.') at += 2
    else if (sign.text !== '[') return false
    else if (tokens[at + 2]?.text !== ']' || tokens[at + 1]?.kind === 'name') return true
    else at += 3
  }
  return false
}

function editNegation(context: Context, at: number): Edit[] {
  const { tokens, keywords, isLookup } = context
  const end = endOfExpression(tokens, at + 1, keywords)
  const depth = tokens[at]?.depth
  const modifiers = findBetween(
    tokens,
    at,
    end,
    ({ text, depth: own }, index) => own === depth && text === 'with' && !isMember(tokens, index),
  )
  const close = modifiers === -1 ? end : modifiers
  if (keywords.has('not')) return editNegatedBody(context, at, close)
  const [from, to] = withoutBrackets(tokens, at + 1, close)
  const walked = tokens[from]?.text === 'walk' ? argumentsOf(tokens, from + 1, to) : []
  const operands = operandsOf(tokens, from, to, keywords)
  const looksUp = operands.some(
    ([start, until]) => referenceEnd(tokens, start) === until && isLookup(start, until),
  )
  if (walked.length === 0 && !looksUp) return []
  // OPA evaluates these before the negation. If one of them is undefined, so is the negation.
  const outside =
    walked.length > 0
      ? walked.flatMap(([start, until]) => expressionText(tokens, start, until))
      : operands.flatMap((operand) => evaluatedBefore(tokens, operand))
  const others = outside.map((text) => `, ${text}`).join('')
  return replaceNegation(tokens, at, close, ['[[1 |', `]${others}] == [[]${others}]`])
}

/** Edits a negation with the keyword of `future.keywords`, which OPA evaluates as a whole. */
function editNegatedBody({ tokens, isLookup }: Context, at: number, close: number): Edit[] {
  const isInBraces = tokens[at + 1]?.text === '{' && closingOf(tokens, at + 1) === close - 1
  if (!isInBraces && !isLookup(at, close)) return []
  return isInBraces
    ? wrapBody(tokens, at + 1, close - 1)
    : replaceNegation(tokens, at, close, ['[1 |', '] == []'])
}

/** Replaces `not` by `before`, and adds `after` to the end of the negated expression. */
function replaceNegation(
  tokens: readonly Token[],
  at: number,
  close: number,
  [before, after]: readonly [string, string],
): Edit[] {
  const [token, last] = [tokens[at], tokens[close - 1]]
  if (token === undefined || last === undefined) return []
  return [
    { at: token.offset, length: token.text.length, text: before },
    { at: last.offset + last.text.length, length: 0, text: after },
  ]
}

/** Returns the parts of an operand that OPA evaluates first: variable keys, calls, collections. */
function evaluatedBefore(tokens: readonly Token[], [from, to]: Span): string[] {
  if (referenceEnd(tokens, from) !== to) return expressionText(tokens, from, to)
  return tokens.flatMap(({ text, depth }, at) => {
    const isKey = at > from && at < to && text === '[' && depth === tokens[from]?.depth
    const close = isKey ? closingOf(tokens, at) : at
    const isFixed = close === at + 2 && tokens[at + 1]?.kind !== 'name'
    return isKey && !isFixed ? [textOf(tokens, at + 1, close)] : []
  })
}

/** Returns the text of some tokens, or nothing for a single name or scalar. */
function expressionText(tokens: readonly Token[], from: number, to: number): string[] {
  const isScalar = to === from + 1 && tokens[from]?.kind !== 'sign'
  return isScalar ? [] : [textOf(tokens, from, to)]
}

function editEvery({ tokens, keywords, isLookup }: Context, at: number): Edit[] {
  const depth = tokens[at]?.depth
  const end = endOfExpression(tokens, at + 1, keywords)
  const isOfEvery = ({ text }: Token, index: number, sign: string): boolean =>
    index > at && index < end && text === sign && tokens[index]?.depth === depth
  // The domain may be in braces, too. The body is in the last ones.
  const open = tokens.findLastIndex((token, index) => isOfEvery(token, index, '{'))
  const close = tokens.findLastIndex((token, index) => isOfEvery(token, index, '}'))
  return isLookup(open, close) ? wrapBody(tokens, open, close) : []
}

/** Replaces a body in braces by a comprehension that is not empty. */
function wrapBody(tokens: readonly Token[], open: number, close: number): Edit[] {
  const [opening, closing] = [tokens[open], tokens[close]]
  if (opening === undefined || closing === undefined) return []
  return [
    { at: opening.offset + 1, length: 0, text: ' [1 |' },
    { at: closing.offset, length: 0, text: '] != []' },
  ]
}
