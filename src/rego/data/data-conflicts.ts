import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BaseDocument } from './base-document.js'

/**
 * The first base document that stands in the way of a rule: one that has a value at the rule's path, or a value above it that
 * has no members. Undefined where the path is free. OPA's rule, as its compiler applies it to rules and functions.
 */
export function findConflict(
  documents: readonly BaseDocument[],
  rulePath: readonly string[],
): BaseDocument | undefined {
  return documents.find((document) => standsInTheWay(document, rulePath))
}

function standsInTheWay({ at, value }: BaseDocument, rulePath: readonly string[]): boolean {
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
