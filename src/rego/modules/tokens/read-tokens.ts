import { notCodeAt } from './not-code.js'
import { expandTemplateStrings } from './template-strings.js'

/** A word, string, number or operator of Rego. */
export interface Token {
  readonly kind: 'name' | 'string' | 'number' | 'sign'
  readonly text: string
  /** The offset in the text. */
  readonly offset: number
  /** The number of open brackets before it. */
  readonly depth: number
  readonly isFirstOnLine: boolean
}

/** Matches a token, or the first character of a comment or string. */
const TOKEN = /[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|:=|[^\s\w]/g

/**
 * Returns the tokens of a module, and the text of their offsets. A string without an end is
 * only the token of its quote.
 */
export function readTokens(source: string): { readonly text: string; readonly tokens: readonly Token[] } {
  const hasTemplates = source.includes('$"') || source.includes('$`')
  const text = hasTemplates ? expandTemplateStrings(source) : source
  const tokens: Token[] = []
  let depth = 0
  let end = -1
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const { 0: first, index: offset } = match
    const notCode = notCodeAt(text, offset)
    if (notCode !== undefined) TOKEN.lastIndex = notCode.end
    if (first === '#') continue
    const word = notCode?.isComplete === true ? text.slice(offset, notCode.end) : first
    const kind = kindOf(word)
    if (isClosing({ kind, text: word })) depth--
    const isFirstOnLine = end === -1 || text.slice(end, offset).includes('\n')
    tokens.push({ kind, text: word, offset, depth, isFirstOnLine })
    end = offset + word.length
    if (kind === 'sign' && isOpening(word)) depth++
  }
  return { text, tokens }
}

/** The line breaks of the latest text, because a module may have thousands of warnings. */
let latest: { readonly text: string; readonly breaks: readonly number[] } = { text: '', breaks: [] }

/** Returns line and column of an offset, from 1. */
export function positionIn(text: string, offset: number): { row: number; col: number } {
  if (latest.text !== text) latest = { text, breaks: [...text.matchAll(/\n/g)].map(({ index }) => index) }
  let [row, end] = [0, latest.breaks.length]
  while (row < end) {
    const middle = (row + end) >>> 1
    if ((latest.breaks[middle] ?? offset) < offset) row = middle + 1
    else end = middle
  }
  return { row: row + 1, col: offset - (latest.breaks[row - 1] ?? -1) }
}

/** Returns the value of a string token; undefined for an escape that JSON lacks. */
export function stringValue({ text }: Token): string | undefined {
  if (text.startsWith('`')) return text.slice(1, -1)
  try {
    return String(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Words after which a statement continues, on the next line too. */
const CONTINUING: ReadonlySet<string> = new Set(
  'as contains default else if import in not package some with'.split(' '),
)

/** True if a rule, an import or the package begins with this token. */
export function startsStatement(tokens: readonly Token[], at: number): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]]
  if (token?.kind !== 'name' || token.depth !== 0 || !token.isFirstOnLine) return false
  if (before === undefined) return true
  return before.kind === 'sign' ? isClosing(before) : !CONTINUING.has(before.text)
}

function kindOf(word: string): Token['kind'] {
  const first = word.charAt(0)
  if (first === '"' || first === '`') return word.length > 1 ? 'string' : 'sign'
  if (first >= '0' && first <= '9') return 'number'
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first === '_' ? 'name' : 'sign'
}

export function isOpening(sign: string): boolean {
  return sign === '(' || sign === '[' || sign === '{'
}

export function isClosing({ kind, text }: Pick<Token, 'kind' | 'text'>): boolean {
  return kind === 'sign' && (text === ')' || text === ']' || text === '}')
}

/** True for a member of a reference, as `b` in `a.b`. */
export function isMember(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && touches(tokens, at - 1)
}

/** True if no white space precedes the token. */
export function touches(tokens: readonly Token[], at: number): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]]
  if (before === undefined || token === undefined) return false
  return before.offset + before.text.length === token.offset
}
