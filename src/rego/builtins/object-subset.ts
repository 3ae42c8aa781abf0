import { equalValues, RegoObject, RegoSet } from '../values/value.js'
import type { RegoArray, RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { isArray, operand } from './shared/operands.js'

const subset: Builtin = (args) => {
  const [whole, part] = [operand(args, 0), operand(args, 1)]
  const result = containsPart(whole, part)
  if (result !== undefined) return result
  throw new BuiltinError(
    'both arguments object.subset must be of the same type or array and set',
    'eval_type_error',
  )
}

/** Returns true if `whole` contains `part`; undefined if their types are not comparable. */
function containsPart(whole: RegoValue, part: RegoValue): boolean | undefined {
  if (whole instanceof RegoObject && part instanceof RegoObject) return holdsObject(whole, part)
  if (whole instanceof RegoSet && part instanceof RegoSet) {
    return part.members.every((member) => whole.has(member))
  }
  if (isArray(whole) && isArray(part)) return holdsRun(whole, part)
  if (isArray(whole) && part instanceof RegoSet) return holdsMembers(whole, part)
  return undefined
}

/** Compares the values of objects recursively. Members of arrays and sets must be equal. */
function holdsObject(whole: RegoObject, part: RegoObject): boolean {
  return part.entries.every(([key, wanted]) => {
    const value = whole.get(key)
    if (value === undefined) return false
    const isContainerPair =
      (value instanceof RegoObject && wanted instanceof RegoObject) ||
      (value instanceof RegoSet && wanted instanceof RegoSet) ||
      (isArray(value) && isArray(wanted))
    return isContainerPair ? containsPart(value, wanted) === true : equalValues(value, wanted)
  })
}

/** Returns true if `part` is a contiguous run in `whole` (Knuth-Morris-Pratt search). */
function holdsRun(whole: RegoArray, part: RegoArray): boolean {
  const fallbacks = fallbacksOf(part)
  let matched = 0
  for (const value of whole) {
    if (matched === part.length) break
    while (matched > 0 && !equalValues(value, part[matched] ?? null)) matched = fallbacks[matched - 1] ?? 0
    if (equalValues(value, part[matched] ?? null)) matched++
  }
  return matched === part.length
}

/** Returns the longest shorter match that ends at the same position, for each length. */
function fallbacksOf(part: RegoArray): readonly number[] {
  const fallbacks = [0]
  let matched = 0
  for (const value of part.slice(1)) {
    while (matched > 0 && !equalValues(value, part[matched] ?? null)) matched = fallbacks[matched - 1] ?? 0
    if (equalValues(value, part[matched] ?? null)) matched++
    fallbacks.push(matched)
  }
  return fallbacks
}

function holdsMembers(whole: RegoArray, part: RegoSet): boolean {
  // OPA returns false for two empty collections.
  if (whole.length === 0) return false
  const members = new RegoSet(whole)
  return part.members.every((member) => members.has(member))
}

export const objectSubsetBuiltins: BuiltinTable = { 'object.subset': subset }
