import { isClosing, isMember, isOpening, touches } from './read-tokens.js'
import type { Token } from './read-tokens.js'

/** A range of token indices. */
export type Span = readonly [from: number, to: number]

/** Keywords that join two parts of an expression. `contains` in a body is a call. */
const JOINING = ['with', 'as', 'in']
/** Keywords after an expression. */
const ENDING = ['else', 'and', 'or']
/** Names in modules that do not make them keywords. */
const OPTIONAL: ReadonlySet<string> = new Set(['in', 'and', 'or'])

/** True if the token is one of the words, and a keyword there. */
function isOneOf(
  words: readonly string[],
  tokens: readonly Token[],
  at: number,
  keywords: ReadonlySet<string>,
): boolean {
  const { kind, text = '' } = tokens[at] ?? {}
  const isWord = kind === 'name' && words.includes(text) && !isMember(tokens, at)
  return isWord && (keywords.has(text) || !OPTIONAL.has(text))
}

/** Returns the index after the expression that begins at `start`. */
export function endOfExpression(
  tokens: readonly Token[],
  start: number,
  keywords: ReadonlySet<string>,
): number {
  const depth = tokens[start]?.depth ?? 0
  const isJoining = (at: number): boolean => {
    const { kind, text = '' } = tokens[at] ?? {}
    return kind === 'name' ? isOneOf(JOINING, tokens, at, keywords) : kind === 'sign' && !isOpening(text)
  }
  let at = start + 1
  for (; at < tokens.length; at += 1) {
    const [before, token] = [tokens[at - 1], tokens[at]]
    if (before === undefined || token === undefined || token.depth < depth) break
    if (token.depth > depth || isClosing(token)) continue
    if (token.text === ';' || isOneOf(ENDING, tokens, at, keywords)) break
    if (token.isFirstOnLine && !isJoining(at) && !(isJoining(at - 1) && !isClosing(before))) break
  }
  return at
}

export function withoutBrackets(tokens: readonly Token[], from: number, to: number): Span {
  const isWithin = tokens[from]?.text === '(' && closingOf(tokens, from) === to - 1
  return isWithin ? withoutBrackets(tokens, from + 1, to - 1) : [from, to]
}

/** Returns the two sides of an equation, or the whole of another expression. */
export function operandsOf(
  tokens: readonly Token[],
  from: number,
  to: number,
  keywords: ReadonlySet<string>,
): Span[] {
  const depth = tokens[from]?.depth
  const signs = comparisonsOf(tokens, from, to)
  const isMembership = findBetween(
    tokens,
    from,
    to,
    (token, at) => token.depth === depth && isOneOf(['in'], tokens, at, keywords),
  )
  // `=` has all other operators in its operands, and `in` has comparisons. The operands of `a == b
  // == c` are `a == b` and `c`.
  const single = signs.find(([start, end]) => textOf(tokens, start, end) === '=')
  const [start, end] = single ?? (isMembership !== -1 ? undefined : signs.at(-1)) ?? [to, to]
  if (!/^==?$/.test(textOf(tokens, start, end))) return [[from, to]]
  return [withoutBrackets(tokens, from, start), withoutBrackets(tokens, end, to)]
}

function comparisonsOf(tokens: readonly Token[], from: number, to: number): Span[] {
  const depth = tokens[from]?.depth
  const spans: Span[] = []
  for (let at = from + 1; at < to; at += 1) {
    const { text = '', depth: own } = tokens[at] ?? {}
    if (own !== depth || !/^(?:[=!<>]|:=)$/.test(text)) continue
    const isDouble = tokens[at + 1]?.text === '=' && touches(tokens, at + 1)
    spans.push([at, isDouble ? at + 2 : at + 1])
    if (isDouble) at += 1
  }
  return spans
}

/**
 * Returns the arguments of a call whose brackets begin at `open` and end before `to`; else none.
 */
export function argumentsOf(tokens: readonly Token[], open: number, to: number): Span[] {
  if (tokens[open]?.text !== '(' || closingOf(tokens, open) !== to - 1) return []
  const depth = tokens[open].depth + 1
  const spans: Span[] = []
  let from = open + 1
  for (let at = from; at < to; at += 1) {
    const isEnd = at === to - 1 || (tokens[at]?.text === ',' && tokens[at]?.depth === depth)
    if (!isEnd) continue
    if (at > from) spans.push([from, at])
    from = at + 1
  }
  return spans
}

/** Returns the index after a reference: a name with its members and keys, without a call. */
export function referenceEnd(tokens: readonly Token[], start: number): number {
  if (tokens[start]?.kind !== 'name') return start
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    if (sign.text === '.') at += 2
    else if (sign.text === '[') at = closingOf(tokens, at) + 1
    else break
  }
  return at
}

/** Returns the index of the matching closing bracket. */
export function closingOf(tokens: readonly Token[], open: number): number {
  const depth = tokens[open]?.depth
  return findBetween(tokens, open, tokens.length, (token) => token.depth === depth && isClosing(token))
}

/** Returns the first index after `from` and before `to` with such a token; -1 if there is none. */
export function findBetween(
  tokens: readonly Token[],
  from: number,
  to: number,
  isFound: (token: Token, at: number) => boolean,
): number {
  for (let at = from + 1; at < to; at += 1) {
    const token = tokens[at]
    if (token !== undefined && isFound(token, at)) return at
  }
  return -1
}

/** Some tokens on one line. */
export function textOf(tokens: readonly Token[], from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map(({ text }, place) => (place === 0 || touches(tokens, from + place) ? text : ` ${text}`))
    .join('')
}
