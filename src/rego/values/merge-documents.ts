import { RegoObject, identityKey } from './value.js'
import type { RegoValue } from './value.js'

/**
 * Merges the documents of one path: objects merge member by member, other values are replaced by
 * the last one. Undefined if none is defined. Takes time proportional to the number of members.
 */
export function mergeDocuments(documents: readonly (RegoValue | undefined)[]): RegoValue | undefined {
  const defined = documents.filter((document) => document !== undefined)
  const objects: RegoObject[] = []
  for (const document of defined) {
    if (document instanceof RegoObject) objects.push(document)
    else objects.length = 0
  }
  const [first] = objects
  if (first === undefined || !(defined.at(-1) instanceof RegoObject)) return defined.at(-1)
  return objects.length === 1 ? first : mergeObjects(objects)
}

function mergeObjects(objects: readonly RegoObject[]): RegoObject {
  const members = new Map<string, { key: RegoValue; values: RegoValue[] }>()
  for (const { entries } of objects) {
    for (const [key, value] of entries) {
      const name = identityKey(key)
      const member = members.get(name)
      if (member === undefined) members.set(name, { key, values: [value] })
      else member.values.push(value)
    }
  }
  return new RegoObject(
    [...members.values()].map(({ key, values }) => [key, mergeDocuments(values) ?? null] as const),
  )
}
