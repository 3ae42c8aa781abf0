import { asBuffer } from '../bytes.js'
import * as json from '../json/scan/json-bytes.js'
import { labelRole } from './member-names.js'

/** The beginning of a JSON text, made whole. */
interface ClosedJson {
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

/** In which state the beginning of a JSON text ends. */
export interface OpenContainers {
  /** Where the objects and arrays begin that have no end, the outermost first. */
  readonly open: readonly number[]
  /** Whether one of them has a member that may be a value with a label beside it (`{"name":…,"value":…}`). */
  readonly hasValue: boolean
  /** Where the last text begins, unless a bracket follows it; else -1. */
  readonly textFrom: number
  /** Whether that text has no end. */
  readonly isInText: boolean
  /** The offset after the last text or bracket, where the last text has an end. */
  readonly rest: number
  /** The last bracket; 0 where there is none. */
  readonly lastBracket: number
}

/** Reads how the beginning of a JSON text is at its end: looks at texts and brackets alone. */
export function readOpenContainers(bytes: Buffer): OpenContainers {
  const open: number[] = []
  /** For each open container whether it has such a member; undefined for arrays. */
  const withValue: (boolean | undefined)[] = []
  let textFrom = -1
  let isInText = false
  let rest = 0
  let lastBracket = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === json.QUOTE) {
      textFrom = at
      at = endOfText(bytes, at)
      isInText = at === bytes.length
      if (isInText) break
      rest = at + 1
      const last = open.length - 1
      if (withValue[last] === false && isValueName(bytes, textFrom, at)) withValue[last] = true
      continue
    }
    const isOpening = byte === json.OPEN_OBJECT || byte === json.OPEN_ARRAY
    if (!isOpening && byte !== json.CLOSE_OBJECT && byte !== json.CLOSE_ARRAY) continue
    textFrom = -1
    lastBracket = byte
    rest = at + 1
    if (isOpening) {
      open.push(at)
      withValue.push(byte === json.OPEN_OBJECT ? false : undefined)
    } else {
      open.pop()
      withValue.pop()
    }
  }
  return { open, hasValue: withValue.includes(true), textFrom, isInText, rest, lastBracket }
}

/** Where the closing quote is of the text that begins there, or the end of the bytes. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== json.QUOTE) at += bytes[at] === json.BACKSLASH ? 2 : 1
  return Math.min(at, bytes.length)
}

/** 1 for what such a name begins with: a look at one byte spares most names the look at all of them. */
const BEGINS_NAME = json.byteTable((_, char) => /[vds]/i.test(char))
const LONGEST_NAME = 12

/** Whether the text between these quotes is the name of a member that is a value with a label. */
function isValueName(bytes: Buffer, open: number, close: number): boolean {
  if (BEGINS_NAME[bytes[open + 1] ?? 0] === 0 || close - open - 1 > LONGEST_NAME) return false
  const role = labelRole(bytes.toString('latin1', open + 1, close))
  return (role === 'value' || role === 'kubernetesValue') && !isAfterColon(bytes, open)
}

function isAfterColon(bytes: Buffer, quote: number): boolean {
  let at = quote - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return bytes[at] === json.COLON
}
