import { scanSpace } from './scan-space.js'
import { scanValue } from './scan-value.js'
import { syntaxError } from './syntax-error.js'

/** Raises `invalid`, in the words of Go's `json.Unmarshal`, unless the bytes are exactly one JSON value. */
export function refuseMalformed(bytes: Uint8Array): void {
  const end = scanSpace(bytes, scanValue(bytes, 0))
  if (end < bytes.length) throw syntaxError(bytes, end, 'after top-level value')
}
