import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

const INTEGER = /^(?:0|[1-9]\d*)$/

/**
 * The value at a path of URL segments: object members by key, array elements by index, set members by themselves. A
 * segment that is a decimal integer also stands for that number as a key. Undefined when there is none.
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
  const number = INTEGER.test(segment) ? new RegoNumber(segment) : undefined
  if (value instanceof RegoObject)
    return value.get(segment) ?? (number === undefined ? undefined : value.get(number))
  if (value instanceof RegoSet) {
    if (value.has(segment)) return segment
    return number !== undefined && value.has(number) ? number : undefined
  }
  return Array.isArray(value) && number !== undefined
    ? (value[number.toNumber()] as RegoValue | undefined)
    : undefined
}
