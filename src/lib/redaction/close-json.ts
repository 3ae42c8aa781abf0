import { asBuffer } from '../bytes.js'
import * as json from '../json/scan/json-bytes.js'
import { labelRole } from './member-names.js'

/** A truncated JSON text, completed to valid JSON. */
interface ClosedJson {
  readonly json: Buffer
  /** Length of the kept part: all but a partial escape or character. */
  readonly cutAt: number
  /** The appended bytes. */
  readonly closing: Buffer
  readonly containers: OpenContainers
}

const LITERALS = ['true', 'false', 'null']
/** A possible partial escape. It is one unless its backslash is escaped itself. */
const PARTIAL_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/
const MAX_PARTIAL_ESCAPE = 5

/** Completes a truncated JSON text to valid JSON. */
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
  /** Offset of a number or literal at the very end, or -1. */
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

/** The ending of a text in which `last` precedes `rest` and no string or bracket follows. */
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

/** Whether the string that starts there is the name of a member. */
function isKey(bytes: Uint8Array, textFrom: number, open: readonly number[]): boolean {
  const isInObject = bytes[open.at(-1) ?? -1] === json.OPEN_OBJECT
  return isInObject && bytes[endBeforeSpace(bytes, textFrom) - 1] !== json.COLON
}

function endBeforeSpace(bytes: Uint8Array, end: number): number {
  let at = end
  while (at > 0 && (bytes[at - 1] ?? 0) <= 0x20) at--
  return at
}

/** 1 for bytes of numbers and literals. */
const IN_SCALAR = json.byteTable((byte, char) => byte > 0x20 && !'"{}[]:,'.includes(char))

function missingAfter(last: Last, opener: number | undefined): string {
  if (last === 'colon') return 'null'
  if (last === 'comma') return opener === json.OPEN_OBJECT ? '"":null' : 'null'
  return last === 'start' ? 'null' : ''
}

/** The missing end of a number or literal. */
function endOfScalar(scalar: string): string {
  const literal = LITERALS.find((word) => word.startsWith(scalar))
  if (literal !== undefined) return literal.slice(scalar.length)
  return /\d$/.test(scalar) ? '' : '0'
}

/**
 * The end of a text without a partial escape or character, which an appended quote would change.
 */
function endOfWholeText(bytes: Buffer): number {
  const [half = ''] =
    PARTIAL_ESCAPE.exec(bytes.toString('latin1', Math.max(0, bytes.length - MAX_PARTIAL_ESCAPE))) ?? []
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

/** State at the end of a truncated JSON text. */
export interface OpenContainers {
  /** Offsets of the unclosed objects and arrays, the outermost first. */
  readonly open: readonly number[]
  /**
   * Whether one of them has a member that may be a value with a label next to it
   * (`{"name":…,"value":…}`).
   */
  readonly hasValue: boolean
  /** Offset of the last string, or -1 if a bracket follows it. */
  readonly textFrom: number
  /** Whether that string is unclosed. */
  readonly isInText: boolean
  /** Offset after the last string or bracket, if the last string is closed. */
  readonly rest: number
  /** The last bracket, or 0 if there is none. */
  readonly lastBracket: number
}

/** Determines the state at the end of a truncated JSON text. Reads strings and brackets only. */
export function readOpenContainers(bytes: Buffer): OpenContainers {
  const open: number[] = []
  /** For each open container, whether it has such a member. Undefined for arrays. */
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

/** Offset of the closing quote of the string that starts at `start`, or the end of the bytes. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== json.QUOTE) at += bytes[at] === json.BACKSLASH ? 2 : 1
  return Math.min(at, bytes.length)
}

/** 1 for the first bytes of such names, so that most names need only one comparison. */
const BEGINS_NAME = json.byteTable((_, char) => /[vds]/i.test(char))
const MAX_NAME_LENGTH = 12

/** Whether the string between these quotes is the name of a member that is a value with a label. */
function isValueName(bytes: Buffer, open: number, close: number): boolean {
  if (BEGINS_NAME[bytes[open + 1] ?? 0] === 0 || close - open - 1 > MAX_NAME_LENGTH) return false
  const role = labelRole(bytes.toString('latin1', open + 1, close))
  return (role === 'value' || role === 'kubernetesValue') && !isAfterColon(bytes, open)
}

function isAfterColon(bytes: Buffer, quote: number): boolean {
  let at = quote - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return bytes[at] === json.COLON
}
