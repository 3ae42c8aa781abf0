import { AppError } from '../../../errors/app-error.js'
import type { Extent } from './json-bytes.js'
import { scanSpace, MAX_DEPTH, scanValue } from './scan-value.js'
import { syntaxError } from './syntax-error.js'

/**
 * The extent of the one JSON value that the bytes are, of at most `maxDepth` levels. Raises `invalid`, in the words of Go's
 * `json.Unmarshal`, for bytes that are anything else.
 */
export function locateValue(bytes: Uint8Array, maxDepth = MAX_DEPTH): Extent {
  // The scanner bounds all levels, so the ones that are not allowed are said to be open already.
  const end = scanValue(bytes, 0, MAX_DEPTH - maxDepth)
  refuseMore(bytes, end)
  return { start: scanSpace(bytes, 0), end }
}

/** Raises `invalid`, in the words of Go's `json.Unmarshal`, unless nothing but white space follows the value that ends here. */
export function refuseMore(bytes: Uint8Array, end: number): void {
  const next = scanSpace(bytes, end)
  if (next < bytes.length) throw syntaxError(bytes, next, 'after top-level value')
}

/** Raises `invalid`, in the words of Go's `json.Unmarshal`, unless the bytes are exactly one JSON value. */
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
