import { decodeString } from './decode-string.js'
import type { Extent } from './json-bytes.js'
import { OPEN_OBJECT } from './json-bytes.js'
import { scanMembers } from './scan-members.js'
import { scanSpace } from './scan-value.js'
import { scanString } from './scan-string.js'

/**
 * The extents of an object's members by key, the last of a repeated key; undefined when the value is no object. Nothing
 * below the first level is read. Raises the errors of `scanValue`.
 */
export function readMembers(bytes: Uint8Array, from = 0): Map<string, Extent> | undefined {
  const open = scanSpace(bytes, from)
  if (bytes[open] !== OPEN_OBJECT) return undefined
  const members = new Map<string, Extent>()
  scanMembers(bytes, open, (keyStart, start, end) => {
    const key = decodeString(bytes, keyStart, scanString(bytes, keyStart))
    members.set(Buffer.from(key).toString(), { start, end })
  })
  return members
}
