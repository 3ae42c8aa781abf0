import { AppError } from '../errors.js'
import { maskPointers } from '../lib/json/mask-pointers.js'
import { scanSpace } from '../lib/json/scan-space.js'
import { scanValue } from '../lib/json/scan-value.js'

/** What is left of an input to be stored. */
export interface KeptInput {
  readonly bytes: Uint8Array | null
  readonly truncated: boolean
  readonly maskFailed: boolean
}

/** Turns a whole input into what may be stored of it. */
export type InputKeeper = (input: Uint8Array, fullLength: number) => KeptInput

const REPLACEMENT = '"[masked]"'

/**
 * Masks first and cuts to `maxBytes` second, so that a secret cannot slip through behind the cut. An input that cannot
 * be masked is not kept at all.
 */
export function makeInputKeeper(pointers: readonly string[], maxBytes: number): InputKeeper {
  const masks = pointers.map(parseMaskPointer)
  if (masks.length === 0) {
    return (input, fullLength) => ({
      bytes: input.subarray(0, maxBytes),
      truncated: fullLength > Math.min(input.length, maxBytes),
      maskFailed: false,
    })
  }
  return (input, fullLength) => {
    if (input.length < fullLength) return { bytes: null, truncated: true, maskFailed: true }
    try {
      refuseTrailingText(input)
      const masked = maskPointers(input, masks, REPLACEMENT)
      return { bytes: masked.subarray(0, maxBytes), truncated: masked.length > maxBytes, maskFailed: false }
    } catch {
      return { bytes: null, truncated: true, maskFailed: true }
    }
  }
}

/**
 * The tokens of a JSON pointer (RFC 6901 section 3) in which `*` stands for every member or element; raises AppError
 * `invalid` for a text that is none.
 */
export function parseMaskPointer(pointer: string): string[] {
  if (!pointer.startsWith('/')) throw new AppError('invalid', `mask "${pointer}": must start with "/"`)
  if (/~(?![01])/.test(pointer)) throw new AppError('invalid', `mask "${pointer}": "~" must be written "~0"`)
  // ~1 before ~0: "~01" is the text "~1", not "/".
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The masks lead into one JSON value only: text behind it would be kept unmasked. */
function refuseTrailingText(input: Uint8Array): void {
  if (scanSpace(input, scanValue(input, 0)) !== input.length) {
    throw new AppError('invalid', 'mask input: text after the JSON value')
  }
}
