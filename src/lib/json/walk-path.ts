import { decodeString } from './decode-string.js'
import type { Extent } from './extent.js'
import { OPEN_ARRAY, OPEN_OBJECT } from './json-bytes.js'
import { scanElements, scanMembers } from './scan-members.js'
import { scanSpace } from './scan-space.js'
import { scanString } from './scan-string.js'

const INDEX = /^(0|[1-9]\d*)$/

/**
 * The value that `segments` lead to inside the valid JSON value from `start` to `end`: object members by key (the last one where
 * a key is repeated), array elements by decimal index. Undefined when a segment leads nowhere.
 */
export function walkPath(
  bytes: Uint8Array,
  start: number,
  end: number,
  segments: readonly string[],
): Extent | undefined {
  let found: Extent | undefined = { start: scanSpace(bytes, start), end }
  for (const segment of segments) {
    const first = bytes[found.start]
    if (first === OPEN_OBJECT) found = findMember(bytes, found.start, segment)
    else if (first === OPEN_ARRAY && INDEX.test(segment)) {
      found = findElement(bytes, found.start, Number(segment))
    } else return undefined
    if (found === undefined) return undefined
  }
  return found
}

function findMember(bytes: Uint8Array, open: number, name: string): Extent | undefined {
  const wanted = Buffer.from(name)
  let found: Extent | undefined
  scanMembers(bytes, open, (keyStart, start, end) => {
    if (wanted.equals(decodeString(bytes, keyStart, scanString(bytes, keyStart)))) found = { start, end }
  })
  return found
}

function findElement(bytes: Uint8Array, open: number, wanted: number): Extent | undefined {
  let found: Extent | undefined
  scanElements(bytes, open, (index, start, end) => {
    if (index === wanted) found = { start, end }
  })
  return found
}
