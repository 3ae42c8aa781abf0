import { asBuffer } from '../bytes.js'
import * as json from '../json/scan/json-bytes.js'
import { labelRole } from './member-names.js'

/** A truncated JSON text, completed to valid JSON. */
interface ClosedJson {
  readonly json: Buffer
  /** Length of the part used: all but a partial escape or character at the end. */
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
  const { open, isInString } = containers
  const { scalarFrom, last } = endingOf(bytes, containers)
  const cutAt = isInString ? endOfCompleteCharacters(bytes) : bytes.length
  const isKey = last === 'key'
  const scalar = isInString ? '"' : scalarFrom === -1 ? '' : endOfScalar(bytes.toString('latin1', scalarFrom))
  const member = isKey ? ':null' : ''
  const missing = !isInString && scalarFrom === -1 ? missingAfter(last, bytes[open.at(-1) ?? -1]) : ''
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
  { open, stringStart, isInString, tailStart, lastBracket }: OpenContainers,
): Ending {
  const last =
    stringStart !== -1 ? (isKey(bytes, stringStart, open) ? 'key' : 'value') : afterBracket(lastBracket)
  return isInString ? { scalarFrom: -1, last } : endingOfTail(bytes, tailStart, last)
}

function afterBracket(bracket: number): Last {
  if (bracket === 0) return 'start'
  return bracket === json.OPEN_ARRAY || bracket === json.OPEN_OBJECT ? 'open' : 'value'
}

/**
 * The ending of a text whose tail, from `tailStart`, has no string or bracket. `last` precedes it.
 */
function endingOfTail(bytes: Uint8Array, tailStart: number, last: Last): Ending {
  const end = endBeforeSpace(bytes, bytes.length)
  if (end <= tailStart) return { scalarFrom: -1, last }
  if (bytes[end - 1] === json.COLON) return { scalarFrom: -1, last: 'colon' }
  if (bytes[end - 1] === json.COMMA) return { scalarFrom: -1, last: 'comma' }
  if (end < bytes.length) return { scalarFrom: -1, last: 'value' }
  let scalarFrom = end
  while (scalarFrom > tailStart && IN_SCALAR[bytes[scalarFrom - 1] ?? 0] === 1) scalarFrom--
  return { scalarFrom, last: 'value' }
}

/** Whether the string that starts at `stringStart` is the name of a member. */
function isKey(bytes: Uint8Array, stringStart: number, open: readonly number[]): boolean {
  const isInObject = bytes[open.at(-1) ?? -1] === json.OPEN_OBJECT
  return isInObject && bytes[endBeforeSpace(bytes, stringStart) - 1] !== json.COLON
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
 * The end of the complete characters of an unclosed string. A partial escape or UTF-8 character at
 * the end would combine with the appended quote.
 */
function endOfCompleteCharacters(bytes: Buffer): number {
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
   * Whether an unclosed object has a member such as `value`, which is secret if its sibling has the
   * name of a secret (`{"name":"DB_PASSWORD","value":…}`).
   */
  readonly hasValue: boolean
  /** Offset of the last string, or -1 if a bracket follows it. */
  readonly stringStart: number
  /** Whether that string is unclosed. */
  readonly isInString: boolean
  /** Offset after the last closed string or the last bracket. */
  readonly tailStart: number
  /** The last bracket, or 0 if there is none. */
  readonly lastBracket: number
}

/** Determines the state at the end of a truncated JSON text. Reads strings and brackets only. */
export function readOpenContainers(bytes: Buffer): OpenContainers {
  const open: number[] = []
  /** For each open object, whether it has a member for `hasValue`. Undefined for arrays. */
  const objectHasValue: (boolean | undefined)[] = []
  let stringStart = -1
  let isInString = false
  let tailStart = 0
  let lastBracket = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === json.QUOTE) {
      stringStart = at
      at = endOfString(bytes, at)
      isInString = at === bytes.length
      if (isInString) break
      tailStart = at + 1
      const last = open.length - 1
      if (objectHasValue[last] === false && isValueName(bytes, stringStart, at)) objectHasValue[last] = true
      continue
    }
    const isOpening = byte === json.OPEN_OBJECT || byte === json.OPEN_ARRAY
    if (!isOpening && byte !== json.CLOSE_OBJECT && byte !== json.CLOSE_ARRAY) continue
    stringStart = -1
    lastBracket = byte
    tailStart = at + 1
    if (isOpening) {
      open.push(at)
      objectHasValue.push(byte === json.OPEN_OBJECT ? false : undefined)
    } else {
      open.pop()
      objectHasValue.pop()
    }
  }
  return { open, hasValue: objectHasValue.includes(true), stringStart, isInString, tailStart, lastBracket }
}

/** Offset of the closing quote of the string that starts at `start`, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== json.QUOTE) at += bytes[at] === json.BACKSLASH ? 2 : 1
  return Math.min(at, bytes.length)
}

/** 1 for the first bytes of names in `isValueName`, so that most names need only one comparison. */
const BEGINS_NAME = json.byteTable((_, char) => /[vds]/i.test(char))
const MAX_NAME_LENGTH = 12

/**
 * Whether the string between these quotes is a member name such as `value`, `default` or `data`.
 */
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
