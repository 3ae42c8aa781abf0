import { AppError } from '../errors/app-error.js'
import { maskPointers } from '../lib/json/edit/mask-pointers.js'
import { scanSpace, scanValue } from '../lib/json/scan/scan-value.js'
import { makeHideSecrets } from './hide-secrets.js'
import type { HideSecrets } from './hide-secrets.js'

/** The stored part of an input. */
export interface KeptInput {
  readonly bytes: Uint8Array | null
  readonly truncated: boolean
  readonly maskFailed: boolean
  /** Hides the masked values in the rest of a decision; undefined if nothing is masked. */
  readonly hide: HideSecrets | undefined
}

/** Turns a whole input into its stored part. */
export type InputKeeper = (input: Uint8Array, fullLength: number) => KeptInput

/** The replacement of a masked value. */
export const MASK_MARK = '[masked]'
const REPLACEMENT = JSON.stringify(MASK_MARK)
/** Its secrets are unknown, so nothing that may quote them is stored. */
export const NOT_MASKED: KeptInput = { bytes: null, truncated: true, maskFailed: true, hide: () => null }

/**
 * Makes a function that masks an input and then cuts it to `maxBytes`, so that no secret survives
 * the cut. An input that cannot be masked is dropped.
 */
export function makeInputKeeper(pointers: readonly string[], maxBytes: number): InputKeeper {
  const masks = pointers.map(parseMaskPointer)
  if (masks.length === 0) {
    return (input, fullLength) => ({
      bytes: input.subarray(0, maxBytes),
      truncated: fullLength > Math.min(input.length, maxBytes),
      maskFailed: false,
      hide: undefined,
    })
  }
  return (input, fullLength) => {
    // The component that dropped the input has counted it.
    if (input.length < fullLength) return { ...NOT_MASKED, maskFailed: input.length > 0 }
    try {
      refuseTrailingText(input)
      const { bytes, values } = maskPointers(input, masks, REPLACEMENT)
      return {
        bytes: bytes.subarray(0, maxBytes),
        truncated: bytes.length > maxBytes,
        maskFailed: false,
        hide: makeHideSecrets(values),
      }
    } catch {
      return NOT_MASKED
    }
  }
}

/**
 * Parses a JSON pointer (RFC 6901 section 3) in which `*` stands for every member or element.
 * Raises AppError `invalid` for a bad one.
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

/** Masks apply to a single JSON value: text after it would be stored unmasked. */
function refuseTrailingText(input: Uint8Array): void {
  if (scanSpace(input, scanValue(input, 0)) !== input.length) {
    throw new AppError('invalid', 'mask input: text after the JSON value')
  }
}
