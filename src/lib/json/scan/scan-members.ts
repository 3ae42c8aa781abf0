import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_OBJECT } from './json-bytes.js'
import type { Extent } from './json-bytes.js'
import { afterMemberText, scanKey, scanValue, scanSpace } from './scan-value.js'
import { syntaxError } from './syntax-error.js'
import { decodeString } from './decode-string.js'
import { scanString } from './scan-string.js'

/** Receives an object member: the offset of its key (with quotes) and the extent of its value. */
type MemberVisitor = (keyStart: number, valueStart: number, valueEnd: number) => void

/** Receives an array element: its index and extent. */
type ElementVisitor = (index: number, start: number, end: number) => void

/**
 * Receives the offsets of a member's key and value. Scans the value and returns the offset after
 * it.
 */
type MemberWalker = (keyStart: number, valueStart: number) => number

/**
 * Receives the index and offset of an array element. Scans the element and returns the offset after
 * it.
 */
type ElementWalker = (index: number, start: number) => number

/**
 * Visits the members of the object whose `{` is at `open`, in text order and including repeated
 * keys. Returns the offset after the object. Throws as `scanValue`. `depth` is the number of
 * containers around the object.
 */
export function scanMembers(bytes: Uint8Array, open: number, visit: MemberVisitor, depth = 0): number {
  return walkMembers(bytes, open, (keyStart, valueStart) => {
    const valueEnd = scanValue(bytes, valueStart, depth + 1)
    visit(keyStart, valueStart, valueEnd)
    return valueEnd
  })
}

/** Visits the elements of the array whose `[` is at `open`. Otherwise as `scanMembers`. */
export function scanElements(bytes: Uint8Array, open: number, visit: ElementVisitor, depth = 0): number {
  return walkElements(bytes, open, (index, start) => {
    const end = scanValue(bytes, start, depth + 1)
    visit(index, start, end)
    return end
  })
}

/**
 * As `scanMembers`, for visitors that scan the values themselves, so that each byte is scanned
 * once.
 */
export function walkMembers(bytes: Uint8Array, open: number, walk: MemberWalker): number {
  let at = scanSpace(bytes, open + 1)
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    at = scanSpace(bytes, walk(at, scanKey(bytes, at)))
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    at = skipComma(bytes, at, CLOSE_OBJECT)
  }
}

/** As `walkMembers`, for the array whose `[` is at `open`. */
export function walkElements(bytes: Uint8Array, open: number, walk: ElementWalker): number {
  let at = scanSpace(bytes, open + 1)
  if (bytes[at] === CLOSE_ARRAY) return at + 1
  for (let index = 0; ; index++) {
    at = scanSpace(bytes, walk(index, at))
    if (bytes[at] === CLOSE_ARRAY) return at + 1
    at = skipComma(bytes, at, CLOSE_ARRAY)
  }
}

function skipComma(bytes: Uint8Array, at: number, closer: number): number {
  if (bytes[at] !== COMMA) throw syntaxError(bytes, at, afterMemberText(closer))
  return scanSpace(bytes, at + 1)
}

/**
 * Returns the extents of an object's members by key, the last of a repeated key. Undefined if the
 * value is not an object. Reads the first level only. Throws as `scanValue`.
 */
export function readMembers(bytes: Uint8Array, from = 0): Map<string, Extent> | undefined {
  const open = scanSpace(bytes, from)
  if (bytes[open] !== OPEN_OBJECT) return undefined
  const members = new Map<string, Extent>()
  scanMembers(bytes, open, (keyStart, start, end) => {
    members.set(readKey(bytes, keyStart), { start, end })
  })
  return members
}

/** Returns the key whose opening quote is at `keyStart`, without its escapes. */
export function readKey(bytes: Uint8Array, keyStart: number): string {
  return Buffer.from(decodeString(bytes, keyStart, scanString(bytes, keyStart))).toString()
}
