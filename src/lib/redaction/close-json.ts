import { asBuffer } from '../bytes.js'
import * as json from '../json/scan/json-bytes.js'
import { readOpenContainers } from './open-containers.js'
import type { OpenContainers } from './open-containers.js'

/** The beginning of a JSON text, made whole. */
export interface ClosedJson {
  readonly json: Buffer
  /** How much of the beginning it has: all but half an escape or half a character. */
  readonly cutAt: number
  /** What was put behind that. */
  readonly closing: Buffer
  readonly containers: OpenContainers
}

const LITERALS = ['true', 'false', 'null']
/** What may be an escape that lacks its end: it is one unless its backslash is escaped itself. */
const HALF_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/
const LONGEST_HALF = 5

/** Appends to the beginning of a JSON text what makes it JSON again, where it was the beginning of some. */
export function closeJson(start: Uint8Array): ClosedJson {
  const bytes = asBuffer(start)
  const containers = readOpenContainers(bytes)
  const { open, isInText } = containers
  const { scalarFrom, last } = endingOf(bytes, containers)
  const cutAt = isInText ? endOfWholeText(bytes) : bytes.length
  const isKey = last === 'key'
  const scalar = isInText ? '"' : scalarFrom === -1 ? '' : endOfScalar(bytes.toString('latin1', scalarFrom))
  const member = isKey ? ':null' : ''
  const missing = !isInText && scalarFrom === -1 ? missingAfter(last, bytes[open.at(-1) ?? -1]) : ''
  const closers = open.toReversed().map((at) => (bytes[at] === json.OPEN_OBJECT ? '}' : ']'))
  const closing = Buffer.from(scalar + member + missing + closers.join(''))
  return { json: Buffer.concat([bytes.subarray(0, cutAt), closing]), cutAt, closing, containers }
}

type Last = 'start' | 'open' | 'key' | 'colon' | 'comma' | 'value'

interface Ending {
  /** Where a number or literal at the very end begins; -1 where there is none. */
  readonly scalarFrom: number
  readonly last: Last
}

function endingOf(
  bytes: Uint8Array,
  { open, textFrom, isInText, rest, lastBracket }: OpenContainers,
): Ending {
  const last = textFrom !== -1 ? (isKey(bytes, textFrom, open) ? 'key' : 'value') : afterBracket(lastBracket)
  return isInText ? { scalarFrom: -1, last } : atEnd(bytes, rest, last)
}

function afterBracket(bracket: number): Last {
  if (bracket === 0) return 'start'
  return bracket === json.OPEN_ARRAY || bracket === json.OPEN_OBJECT ? 'open' : 'value'
}

/** How a text ends in which `last` is before `rest`, and neither a text nor a bracket from there on. */
function atEnd(bytes: Uint8Array, rest: number, last: Last): Ending {
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

/** 1 for what numbers and literals are written with. */
const IN_SCALAR = json.byteTable((byte, char) => byte > 0x20 && !'"{}[]:,'.includes(char))

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
