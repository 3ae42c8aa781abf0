import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BaseDocument } from './base-document.js'

/**
 * Returns the first base document that conflicts with a rule: one with a value at the rule's path,
 * or with a value above it that is not an object. Undefined without a conflict. OPA's compiler
 * applies the same check to rules and functions.
 */
export function findConflict(
  documents: readonly BaseDocument[],
  rulePath: readonly string[],
): BaseDocument | undefined {
  return documents.find((document) => conflictsWith(document, rulePath))
}

function conflictsWith({ at, value }: BaseDocument, rulePath: readonly string[]): boolean {
  if (!at.every((segment, depth) => depth >= rulePath.length || segment === rulePath[depth])) return false
  let reached: RegoValue = value
  for (const segment of rulePath.slice(at.length)) {
    if (!(reached instanceof RegoObject)) return true
    const member = reached.get(segment)
    if (member === undefined) return false
    reached = member
  }
  return true
}
