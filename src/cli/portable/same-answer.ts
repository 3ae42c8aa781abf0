import { isRecord } from '../../lib/validation/record.js'
import { RegoNumber, RegoObject, RegoSet, printJson, type RegoValue } from '../../rego/index.js'

/**
 * Whether a value of ours and the JSON of the plain host say the same: that has sets as arrays in any order, numbers as doubles, and keys
 * that are no texts as their JSON.
 */
export function saysTheSame(ours: RegoValue | undefined, theirs: unknown): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs
  if (ours instanceof RegoNumber) return Number(ours.text) === theirs
  if (ours instanceof RegoSet) return Array.isArray(theirs) && sameMembers([...ours.members], theirs)
  if (ours instanceof RegoObject) return isRecord(theirs) && sameObject(ours, theirs)
  if (!Array.isArray(ours)) return ours === theirs
  return (
    Array.isArray(theirs) &&
    theirs.length === ours.length &&
    ours.every((element: RegoValue, index) => saysTheSame(element, theirs[index]))
  )
}

function sameMembers(members: readonly RegoValue[], array: readonly unknown[]): boolean {
  const left = [...array]
  return (
    members.length === left.length &&
    members.every((member) => {
      const at = left.findIndex((element) => saysTheSame(member, element))
      if (at === -1) return false
      left.splice(at, 1)
      return true
    })
  )
}

function sameObject(ours: RegoObject, theirs: Readonly<Record<string, unknown>>): boolean {
  return (
    ours.entries.length === Object.keys(theirs).length &&
    ours.entries.every(([key, value]) => {
      const name = typeof key === 'string' ? key : printJson(key)
      return Object.hasOwn(theirs, name) && saysTheSame(value, theirs[name])
    })
  )
}
