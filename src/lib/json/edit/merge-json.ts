import { OPEN_OBJECT } from '../scan/json-bytes.js'
import { readKey, walkMembers } from '../scan/scan-members.js'
import { scanSpace, scanValue } from '../scan/scan-value.js'

/** A JSON value for merging. */
export interface MergeValue {
  /** The value as it is written. */
  readonly text: Uint8Array
  /** The members of an object, the last of a repeated key; undefined for other values. */
  readonly members: ReadonlyMap<string, MergeValue> | undefined
}

/**
 * Parses a JSON text for `mergeJson`, each byte once. Throws as `scanValue`. It calls itself for each
 * level of nested objects: check the depth of untrusted text before.
 */
export function readMergeValue(bytes: Uint8Array): MergeValue {
  return readAt(bytes, scanSpace(bytes, 0))[0]
}

function readAt(bytes: Uint8Array, start: number): [value: MergeValue, end: number] {
  if (bytes[start] !== OPEN_OBJECT) {
    const end = scanValue(bytes, start)
    return [{ text: bytes.subarray(start, end), members: undefined }, end]
  }
  const members = new Map<string, MergeValue>()
  const end = walkMembers(bytes, start, (keyStart, valueStart) => {
    const [value, valueEnd] = readAt(bytes, valueStart)
    members.set(readKey(bytes, keyStart), value)
    return valueEnd
  })
  return [{ text: bytes.subarray(start, end), members }, end]
}

/**
 * Merges two JSON values deeply: members of objects on both sides are merged, and anything else of
 * `own` replaces the value of `base`. Numbers and strings stay as they are written.
 */
export function mergeJson(base: MergeValue, own: MergeValue): Uint8Array {
  if (base.members === undefined || own.members === undefined) return own.text
  const members = new Map<string, Uint8Array>()
  for (const [key, { text }] of base.members) members.set(key, text)
  for (const [key, value] of own.members) {
    const before = base.members.get(key)
    members.set(key, before === undefined ? value.text : mergeJson(before, value))
  }
  return printMembers(members)
}

/** Prints an object whose values are JSON texts. */
export function printMembers(members: Iterable<readonly [key: string, text: Uint8Array]>): Buffer {
  const printed = [...members].map(([key, text]) => `${JSON.stringify(key)}:${Buffer.from(text).toString()}`)
  return Buffer.from(`{${printed.join(',')}}`)
}
