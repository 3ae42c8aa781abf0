import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { isArray } from '../shared/operands.js'

/** A member is there, or left out as OPA leaves out what is null or empty; an empty text stays. */
export type Members = Readonly<Record<string, RegoValue | undefined>>

/** An object of the members that OPA keeps in a syntax tree. */
export function prunedObject(members: Members): RegoObject {
  const kept: [string, RegoValue][] = []
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && !isEmpty(value)) kept.push([name, value])
  }
  return new RegoObject(kept)
}

function isEmpty(value: RegoValue): boolean {
  if (value === null || (isArray(value) && value.length === 0)) return true
  return value instanceof RegoObject && value.entries.length === 0
}
