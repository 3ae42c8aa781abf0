import { BuiltinError } from '../shared/builtin.js'

/** A part of a template: literal text, or the tokens of one action. */
export type Piece = { readonly text: string } | { readonly tokens: readonly Token[]; readonly at: number }

export interface Token {
  readonly kind: 'word' | 'field' | 'variable' | 'number' | 'string' | 'character' | 'sign'
  readonly text: string
  readonly at: number
  /** True if no space precedes it, as for the fields of `.a.b`. */
  readonly isAttached: boolean
}

const TOKEN =
  /(\s+)|(\.[\p{L}_][\p{L}\p{Nd}_]*)|(\$[\p{L}\p{Nd}_]*)|([-+]?\.?\d[\d.eExXoOa-fA-F_]*)|("[^"\\\n]*(?:\\.[^"\\\n]*)*"|`[^`]*`)|('(?=[^'])[^'\\\n]*(?:\\.[^'\\\n]*)*')|([\p{L}_][\p{L}\p{Nd}_]*)|(:=|[.|(),=])/uy
const KINDS = ['field', 'variable', 'number', 'string', 'character', 'word', 'sign'] as const

/** Splits a template into texts and actions, trimming white space at `{{-` and `-}}`. */
export function scanTemplate(template: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let trimsStart = false
  while (at <= template.length) {
    const open = template.indexOf('{{', at)
    const text = template.slice(at, open < 0 ? undefined : open)
    const trimsEnd = open >= 0 && /^\{\{-\s/.test(template.slice(open, open + 4))
    pieces.push({ text: trimText(text, trimsStart, trimsEnd) })
    if (open < 0) break
    const action = scanAction(template, open + (trimsEnd ? 4 : 2))
    if (action.tokens !== undefined) pieces.push({ tokens: action.tokens, at: open + 2 })
    trimsStart = action.trims
    at = action.end
  }
  return pieces
}

interface Action {
  readonly tokens: readonly Token[] | undefined
  readonly trims: boolean
  readonly end: number
}

function scanAction(template: string, start: number): Action {
  const comment = /\/\*[^]*?\*\/(\s+-)?\}\}/y
  comment.lastIndex = start
  const commented = comment.exec(template)
  if (commented !== null) {
    return { tokens: undefined, trims: commented[1] !== undefined, end: comment.lastIndex }
  }
  const tokens: Token[] = []
  let at = start
  let isAttached = false
  for (;;) {
    const close = /(\s-)?\}\}/y
    close.lastIndex = at
    const closed = close.exec(template)
    if (closed !== null) return { tokens, trims: closed[1] !== undefined, end: close.lastIndex }
    if (at >= template.length) return failAt(template, start, 'unclosed action')
    const token = scanToken(template, at, isAttached)
    if (token.kind !== 'space') tokens.push(token)
    isAttached = token.kind !== 'space'
    at += token.text.length
  }
}

function scanToken(
  template: string,
  at: number,
  isAttached: boolean,
): Token | (Omit<Token, 'kind'> & { kind: 'space' }) {
  TOKEN.lastIndex = at
  const match = TOKEN.exec(template)
  if (match === null) {
    const code = template.codePointAt(at) ?? 0
    const hex = code.toString(16).toUpperCase().padStart(4, '0')
    return failAt(template, at, `bad character U+${hex} '${String.fromCodePoint(code)}'`)
  }
  const text = match[0]
  if (match[1] !== undefined) return { kind: 'space', text, at, isAttached }
  const groups: readonly (string | undefined)[] = match.slice(2)
  const kind = KINDS[groups.findIndex((group) => group !== undefined)] ?? 'sign'
  return { kind, text, at, isAttached }
}

function trimText(text: string, start: boolean, end: boolean): string {
  const left = start ? text.trimStart() : text
  return end ? left.trimEnd() : left
}

/** Throws BuiltinError for a problem at a position of the template. */
export function failAt(template: string, at: number, problem: string): never {
  throw new BuiltinError(`template: template:${template.slice(0, at).split('\n').length}: ${problem}`)
}

/** Parses an integer in Go's notation; a leading zero means octal. */
export function integerOf(digits: string): bigint {
  const unsigned = digits.replace(/^[-+]/, '')
  const value = BigInt(/^0[0-7]+$/.test(unsigned) ? `0o${unsigned}` : unsigned)
  return digits.startsWith('-') ? -value : value
}

export function textOf({ text }: Token): string {
  const inner = text.slice(1, -1)
  return text.startsWith('`') ? inner : unescape(inner)
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gu,
    (_all, x, u, wide, sign) => {
      const code = [x, u, wide].find((digits): digits is string => typeof digits === 'string')
      if (code !== undefined) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
      const letter = String(sign)
      return ESCAPES[letter] ?? letter
    },
  )
}
