import { integerSegment } from './data-path.js'
import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

/**
 * Returns the value at URL segments below a rule's value: object members by key, array elements by
 * index, set members by value. A segment that is a decimal integer is a number, never a string.
 * Undefined if there is none.
 */
export function walkValue(value: RegoValue, path: readonly string[]): RegoValue | undefined {
  return walk(value, path, (segment) => {
    const number = integerSegment(segment)
    return number === undefined ? segment : RegoNumber.of(number)
  })
}

/**
 * Returns the value at URL segments in base documents, as OPA's store does. A segment that is a
 * decimal integer is an index in an array, and a string key in an object.
 */
export function walkBaseDocument(value: RegoValue, path: readonly string[]): RegoValue | undefined {
  return walk(value, path, (segment) => integerSegment(segment)?.toString() ?? segment)
}

function walk(
  value: RegoValue,
  path: readonly string[],
  keyOf: (segment: string) => RegoValue,
): RegoValue | undefined {
  let current: RegoValue | undefined = value
  for (const segment of path) {
    if (current instanceof RegoObject) current = current.get(keyOf(segment))
    else if (current instanceof RegoSet) current = memberOf(current, keyOf(segment))
    else current = Array.isArray(current) ? elementOf(current, segment) : undefined
    if (current === undefined) return undefined
  }
  return current
}

function memberOf(set: RegoSet, member: RegoValue): RegoValue | undefined {
  return set.has(member) ? member : undefined
}

function elementOf(array: readonly RegoValue[], segment: string): RegoValue | undefined {
  const index = integerSegment(segment)
  return index === undefined ? undefined : array[Number(index)]
}
