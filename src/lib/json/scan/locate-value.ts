import { AppError } from '../../../errors/app-error.js'
import type { Extent } from './json-bytes.js'
import { scanSpace, MAX_DEPTH, scanValue } from './scan-value.js'
import { syntaxError } from './syntax-error.js'

/**
 * Returns the extent of the only JSON value in the bytes, with at most `maxDepth` levels. Throws
 * `invalid` with the message of Go's `json.Unmarshal` for anything else.
 */
export function locateValue(bytes: Uint8Array, maxDepth = MAX_DEPTH): Extent {
  // The scanner limits the total depth, so the disallowed levels count as open already.
  const end = scanValue(bytes, 0, MAX_DEPTH - maxDepth)
  refuseMore(bytes, end)
  return { start: scanSpace(bytes, 0), end }
}

/**
 * Throws `invalid` with the message of Go's `json.Unmarshal` if anything but white space follows
 * the value that ends at `end`.
 */
export function refuseMore(bytes: Uint8Array, end: number): void {
  const next = scanSpace(bytes, end)
  if (next < bytes.length) throw syntaxError(bytes, next, 'after top-level value')
}

/**
 * Throws `invalid` with the message of Go's `json.Unmarshal` unless the bytes are exactly one JSON
 * value.
 */
export function refuseMalformed(bytes: Uint8Array): void {
  locateValue(bytes)
}

/** Whether the bytes are exactly one JSON value, of at most `maxDepth` levels. */
export function isWellFormed(bytes: Uint8Array, maxDepth = MAX_DEPTH): boolean {
  try {
    locateValue(bytes, maxDepth)
    return true
  } catch (raw) {
    if (raw instanceof AppError) return false
    throw raw
  }
}
