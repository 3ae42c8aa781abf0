import { locateValue } from './locate-value.js'

/** Raises `invalid`, in the words of Go's `json.Unmarshal`, unless the bytes are exactly one JSON value. */
export function refuseMalformed(bytes: Uint8Array): void {
  locateValue(bytes)
}
