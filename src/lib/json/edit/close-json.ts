import { asBuffer } from '../../bytes.js'
import * as json from '../scan/json-bytes.js'

/** The beginning of a JSON text, made whole. */
export interface ClosedJson {
  readonly json: Buffer
  /** How much of the beginning it has: all but half an escape or half a character. */
  readonly cutAt: number
  /** What was put behind that. */
  readonly closing: Buffer
  /** Where the objects and arrays begin that were closed, the outermost first. */
  readonly open: readonly number[]
}

const LITERALS = ['true', 'false', 'null']
/** What may be an escape that lacks its end: it is one unless its backslash is escaped itself. */
const HALF_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/
const LONGEST_HALF = 5

/** Puts behind the beginning of a JSON text what makes it JSON again, where it was the beginning of some. */
export function closeJson(start: Uint8Array): ClosedJson {
  const bytes = asBuffer(start)
  const { open, isInText, scalarFrom, last } = standing(bytes)
  const cutAt = isInText ? endOfWholeText(bytes) : bytes.length
  const isKey = last === 'key'
  const scalar = isInText ? '"' : scalarFrom === -1 ? '' : endOfScalar(bytes.toString('latin1', scalarFrom))
  const member = isKey ? ':null' : ''
  const missing = !isInText && scalarFrom === -1 ? missingAfter(last, bytes[open.at(-1) ?? -1]) : ''
  const closers = open.toReversed().map((at) => (bytes[at] === json.OPEN_OBJECT ? '}' : ']'))
  const closing = Buffer.from(scalar + member + missing + closers.join(''))
  return { json: Buffer.concat([bytes.subarray(0, cutAt), closing]), cutAt, closing, open }
}

type Last = 'start' | 'open' | 'key' | 'colon' | 'comma' | 'value'

interface Standing {
  /** Where the objects and arrays begin that have no end. */
  readonly open: readonly number[]
  readonly isInText: boolean
  /** Where a number or literal at the very end begins; -1 where there is none. */
  readonly scalarFrom: number
  readonly last: Last
}

/** How a text stands at its end: on the way only texts and brackets are looked at, and what is behind the last of them then. */
function standing(bytes: Uint8Array): Standing {
  const open: number[] = []
  let last = 'start' as Last
  let textFrom = -1
  let rest = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const bracket = byte & BRACKET_BITS
    if (byte === json.QUOTE) {
      textFrom = at
      at = closingQuote(bytes, at + 1)
    } else if (bracket === json.OPEN_ARRAY) {
      open.push(at)
      last = 'open'
      textFrom = -1
    } else if (bracket === json.CLOSE_ARRAY) {
      open.pop()
      last = 'value'
      textFrom = -1
    } else continue
    rest = at + 1
  }
  if (textFrom !== -1) last = isKey(bytes, textFrom, open) ? 'key' : 'value'
  const isInText = rest > bytes.length
  return { open, isInText, ...(isInText ? { scalarFrom: -1, last } : atEnd(bytes, rest, last)) }
}

/** How a text ends in which `last` stands before `rest`, and neither a text nor a bracket from there on. */
function atEnd(bytes: Uint8Array, rest: number, last: Last): Pick<Standing, 'scalarFrom' | 'last'> {
  const end = endBeforeSpace(bytes, bytes.length)
  if (end <= rest) return { scalarFrom: -1, last }
  if (bytes[end - 1] === json.COLON) return { scalarFrom: -1, last: 'colon' }
  if (bytes[end - 1] === json.COMMA) return { scalarFrom: -1, last: 'comma' }
  if (end < bytes.length) return { scalarFrom: -1, last: 'value' }
  let scalarFrom = end
  while (scalarFrom > rest && IN_SCALAR[bytes[scalarFrom - 1] ?? 0] === 1) scalarFrom--
  return { scalarFrom, last: 'value' }
}

/** Whether the text that begins there is the name of a member. */
function isKey(bytes: Uint8Array, textFrom: number, open: readonly number[]): boolean {
  const isInObject = bytes[open.at(-1) ?? -1] === json.OPEN_OBJECT
  return isInObject && bytes[endBeforeSpace(bytes, textFrom) - 1] !== json.COLON
}

function endBeforeSpace(bytes: Uint8Array, end: number): number {
  let at = end
  while (at > 0 && (bytes[at - 1] ?? 0) <= 0x20) at--
  return at
}

/** `[` and `{`, `]` and `}` are the same but for one bit. */
const BRACKET_BITS = 0xff ^ (json.OPEN_ARRAY ^ json.OPEN_OBJECT)
/** 1 for what numbers and literals are written with. */
const IN_SCALAR = json.byteTable((byte, char) => byte > 0x20 && !'"{}[]:,'.includes(char))

function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === json.QUOTE) return at
    if (byte === json.BACKSLASH) at++
  }
  return bytes.length
}

function missingAfter(last: Last, opener: number | undefined): string {
  if (last === 'colon') return 'null'
  if (last === 'comma') return opener === json.OPEN_OBJECT ? '"":null' : 'null'
  return last === 'start' ? 'null' : ''
}

/** What a number or literal lacks. */
function endOfScalar(scalar: string): string {
  const literal = LITERALS.find((word) => word.startsWith(scalar))
  if (literal !== undefined) return literal.slice(scalar.length)
  return /\d$/.test(scalar) ? '' : '0'
}

/** The end of a text without half an escape and half a character, which would be others with a quote behind them. */
function endOfWholeText(bytes: Buffer): number {
  const [half = ''] =
    HALF_ESCAPE.exec(bytes.toString('latin1', Math.max(0, bytes.length - LONGEST_HALF))) ?? []
  const isEscaped = half !== '' && backslashesBefore(bytes, bytes.length - half.length) % 2 === 1
  const end = bytes.length - (isEscaped ? 0 : half.length)
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back] ?? 0
    if (byte < 0x80) return end
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? end - back : end
  }
  return end
}

function backslashesBefore(bytes: Buffer, end: number): number {
  let from = end
  while (from > 0 && bytes[from - 1] === json.BACKSLASH) from--
  return end - from
}
