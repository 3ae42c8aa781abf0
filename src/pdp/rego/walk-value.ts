import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

/** What OPA takes for a number in a path (Go's strconv.Atoi). */
const INTEGER = /^[+-]?\d+$/

/**
 * The value at a path of URL segments: object members by key, array elements by index, set members by themselves. A
 * segment that is a decimal integer stands for that number first, then for itself. Undefined when there is none.
 */
export function walkValue(value: RegoValue, path: readonly string[]): RegoValue | undefined {
  let current: RegoValue | undefined = value
  for (const segment of path) {
    if (current === undefined) return undefined
    current = step(current, segment)
  }
  return current
}

function step(value: RegoValue, segment: string): RegoValue | undefined {
  const number = toInteger(segment)
  if (value instanceof RegoObject) {
    const byNumber = number === undefined ? undefined : value.get(RegoNumber.of(number))
    return byNumber === undefined ? value.get(segment) : byNumber
  }
  if (value instanceof RegoSet) {
    const member = number === undefined ? segment : RegoNumber.of(number)
    return value.has(member) ? member : value.has(segment) ? segment : undefined
  }
  return Array.isArray(value) && number !== undefined
    ? (value[Number(number)] as RegoValue | undefined)
    : undefined
}

function toInteger(segment: string): bigint | undefined {
  if (!INTEGER.test(segment)) return undefined
  const value = BigInt(segment)
  return BigInt.asIntN(64, value) === value ? value : undefined
}
