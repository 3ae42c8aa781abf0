import { byteTable } from './byte-run.js'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-bytes.js'

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
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength)
  const { open, isInText, scalarFrom, last } = standing(bytes)
  const cutAt = isInText ? endOfWholeText(bytes) : bytes.length
  const isKey = last === 'key'
  const scalar = isInText ? '"' : scalarFrom === -1 ? '' : endOfScalar(bytes.toString('latin1', scalarFrom))
  const member = isKey ? ':null' : ''
  const missing = !isInText && scalarFrom === -1 ? missingAfter(last, bytes[open.at(-1) ?? -1]) : ''
  const closers = open.toReversed().map((at) => (bytes[at] === OPEN_OBJECT ? '}' : ']'))
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

/** How a text stands at its end. */
function standing(bytes: Uint8Array): Standing {
  const open: number[] = []
  let last = 'start' as Last
  let scalarFrom = -1
  let isInObject = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (OUTSIDE_TEXT[byte] === 0) {
      if (scalarFrom === -1) scalarFrom = at
      last = 'value'
      continue
    }
    if (byte !== COLON) scalarFrom = -1
    if (byte === QUOTE) {
      last = isInObject && last !== 'colon' ? 'key' : 'value'
      at = closingQuote(bytes, at + 1)
      if (at >= bytes.length) return { open, isInText: true, scalarFrom, last }
    } else if (byte === COLON) last = 'colon'
    else if (byte === COMMA) last = 'comma'
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      open.push(at)
      isInObject = byte === OPEN_OBJECT
      last = 'open'
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      open.pop()
      isInObject = bytes[open.at(-1) ?? -1] === OPEN_OBJECT
      last = 'value'
    }
  }
  return { open, isInText: false, scalarFrom, last }
}

/** 1 for what separates values, 0 for what numbers and literals are written with. */
const OUTSIDE_TEXT = byteTable((byte, char) => byte <= 0x20 || '"{}[]:,'.includes(char))

function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
  }
  return bytes.length
}

function missingAfter(last: Last, opener: number | undefined): string {
  if (last === 'colon') return 'null'
  if (last === 'comma') return opener === OPEN_OBJECT ? '"":null' : 'null'
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
  while (from > 0 && bytes[from - 1] === BACKSLASH) from--
  return end - from
}
