import type { Extent } from '../scan/json-bytes.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../scan/json-bytes.js'
import { replaceExtents } from './replace-extents.js'
import { readKey, scanElements, scanMembers } from '../scan/scan-members.js'
import { scanSpace, scanValue } from '../scan/scan-value.js'

const ANY = '*'

interface Branch extends Extent {
  /** The remaining tokens of the pointers that lead through this value. */
  readonly pointers: readonly (readonly string[])[]
}

/** A masked document and the JSON texts of the removed values. */
interface MaskedDocument {
  readonly bytes: Buffer
  readonly values: readonly string[]
}

/**
 * Replaces every value that a pointer leads to in the valid JSON document `bytes` by `replacement`,
 * a JSON text. All other bytes are kept. A pointer is the list of its unescaped RFC 6901 tokens;
 * the token `*` matches every member or element. All values of a repeated key are replaced. A
 * pointer that matches nothing has no effect.
 */
export function maskPointers(
  bytes: Uint8Array,
  pointers: readonly (readonly string[])[],
  replacement: string,
): MaskedDocument {
  const text = Buffer.from(replacement)
  const targets = locateTargets(bytes, pointers)
  return {
    bytes: replaceExtents(
      bytes,
      targets.map((target) => ({ ...target, text })),
    ),
    values: targets.map(({ start, end }) => Buffer.from(bytes.subarray(start, end)).toString()),
  }
}

/** The outermost extents that the pointers lead to, in text order. */
function locateTargets(bytes: Uint8Array, pointers: readonly (readonly string[])[]): Extent[] {
  const start = scanSpace(bytes, 0)
  const targets: Extent[] = []
  const branches: Branch[] = [{ start, end: scanValue(bytes, start), pointers }]
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    if (branch.pointers.some((pointer) => pointer.length === 0)) targets.push(branch)
    else if (branch.pointers.length > 0)
      for (const below of branchesBelow(bytes, branch)) branches.push(below)
  }
  return targets.sort((a, b) => a.start - b.start)
}

function branchesBelow(bytes: Uint8Array, { start, pointers }: Branch): Branch[] {
  const below: Branch[] = []
  const follow = (token: string, valueStart: number, valueEnd: number): void => {
    const tails = pointers
      .filter(([head]) => head === token || head === ANY)
      .map((pointer) => pointer.slice(1))
    if (tails.length > 0) below.push({ start: valueStart, end: valueEnd, pointers: tails })
  }
  if (bytes[start] === OPEN_OBJECT) {
    scanMembers(bytes, start, (keyStart, valueStart, valueEnd) => {
      follow(readKey(bytes, keyStart), valueStart, valueEnd)
    })
  } else if (bytes[start] === OPEN_ARRAY) {
    scanElements(bytes, start, (index, from, end) => follow(String(index), from, end))
  }
  return below
}
