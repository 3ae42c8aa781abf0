import { RegoObject } from './value.js'
import type { RegoValue } from './value.js'

/** Two documents of one path as one: objects merge member by member; elsewhere the second wins. */
export function mergeDocuments(
  first: RegoValue | undefined,
  second: RegoValue | undefined,
): RegoValue | undefined {
  if (second === undefined) return first
  if (!(first instanceof RegoObject) || !(second instanceof RegoObject)) return second
  const merged = second.entries.map(
    ([key, value]) => [key, mergeDocuments(first.get(key), value) ?? value] as const,
  )
  return new RegoObject([...first.entries, ...merged])
}
