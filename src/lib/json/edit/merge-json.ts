import { readMembers } from '../scan/scan-members.js'

/**
 * Merges two JSON texts deeply: members of objects on both sides are merged, and anything else of
 * `own` replaces the value of `base`. Numbers and strings stay as they are written. Both must be
 * valid JSON.
 */
export function mergeJson(base: Uint8Array, own: Uint8Array): Uint8Array {
  const [left, right] = [readMembers(base), readMembers(own)]
  if (left === undefined || right === undefined) return own
  const parts = new Map<string, Uint8Array>()
  for (const [key, { start, end }] of left) parts.set(key, base.subarray(start, end))
  for (const [key, { start, end }] of right) {
    const [before, after] = [parts.get(key), own.subarray(start, end)]
    parts.set(key, before === undefined ? after : mergeJson(before, after))
  }
  const members = [...parts].map(([key, value]) => `${JSON.stringify(key)}:${Buffer.from(value).toString()}`)
  return Buffer.from(`{${members.join(',')}}`)
}
