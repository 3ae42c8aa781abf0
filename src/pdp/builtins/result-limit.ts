import { BuiltinError } from './builtin.js'

/** The longest text that one built-in call may make, in UTF-16 units: far past any policy's need, far below the heap. */
const MAX_RESULT_LENGTH = 16 * 1024 * 1024

/** Raises BuiltinError when a result of this length would be larger than a call may make. */
export function ensureResultLength(length: number): void {
  if (length > MAX_RESULT_LENGTH) {
    throw new BuiltinError(`result exceeds the limit of ${MAX_RESULT_LENGTH} characters`)
  }
}
