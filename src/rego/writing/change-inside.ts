import { AppError } from '../../errors/app-error.js'
import { RegoObject } from '../values/value.js'
import type { RegoArray, RegoValue } from '../values/value.js'

/** A change of the base documents: an operation of JSON Patch (RFC 6902) that OPA accepts. */
export interface DataChange {
  readonly op: 'add' | 'remove' | 'replace'
  /** Below `data`. */
  readonly path: readonly string[]
  /** The new value; null for a removal. */
  readonly value: RegoValue
  /** True to create missing objects above the path. */
  readonly createsParents: boolean
}

/** Copying a member takes the time of about this many elements. */
const ELEMENTS_PER_MEMBER = 20
const INDEX = /^[+-]?\d+$/

/**
 * Returns a value with a change inside it. `depth` is the length of the value's own path. Adding to
 * an array inserts. `copied` is called with the number of elements that are copied. Raises
 * `not_found` for a missing value and a wrong index, in OPA's words.
 */
export function changeInside(
  value: RegoValue,
  change: DataChange,
  depth: number,
  copied: (elements: number) => void,
): RegoValue {
  if (isArray(value)) {
    copied(value.length)
    return changeArray(value, change, depth, copied)
  }
  if (value instanceof RegoObject) {
    copied(value.entries.length * ELEMENTS_PER_MEMBER)
    return changeObject(value, change, depth, copied)
  }
  throw documentNotFound()
}

function changeArray(
  array: RegoArray,
  change: DataChange,
  depth: number,
  copied: (elements: number) => void,
): RegoArray {
  const { op, path, value } = change
  const segment = path[depth] ?? ''
  const isLast = depth === path.length - 1
  const adds = op === 'add' && isLast
  if (segment === '-' && adds) return [...array, value]
  const shown = pathText(path.slice(0, depth + 1))
  if (segment === '-')
    throw new AppError('invalid', `storage_invalid_patch_error: ${shown}: invalid patch path`)
  const fail = (problem: string): never => {
    throw new AppError('not_found', `storage_not_found_error: ${shown}: ${problem}`)
  }
  if (!INDEX.test(segment)) return fail('array index must be integer')
  const index = Number(segment)
  const element = array[index]
  if (adds && index === array.length) return [...array, value]
  if (element === undefined) return fail('array index out of range')
  if (!isLast) return array.with(index, changeInside(element, change, depth + 1, copied))
  if (op === 'remove') return array.toSpliced(index, 1)
  return op === 'add' ? array.toSpliced(index, 0, value) : array.with(index, value)
}

function changeObject(
  object: RegoObject,
  change: DataChange,
  depth: number,
  copied: (elements: number) => void,
): RegoObject {
  const { op, path, value, createsParents } = change
  const key = path[depth] ?? ''
  const isLast = depth === path.length - 1
  const member = object.get(key) ?? (op === 'add' && !isLast && createsParents ? NO_MEMBERS : undefined)
  if (member === undefined && !(op === 'add' && isLast)) throw documentNotFound()
  if (op === 'remove' && isLast) return new RegoObject(object.entries.filter(([name]) => name !== key))
  const changed = isLast || member === undefined ? value : changeInside(member, change, depth + 1, copied)
  return new RegoObject([...object.entries, [key, changed]])
}

const NO_MEMBERS = new RegoObject([])

/** True for an array. Sets and objects are none. */
export function isArray(value: RegoValue | undefined): value is RegoArray {
  return Array.isArray(value)
}

/** Returns a path in the form of OPA's errors. */
export function pathText(path: readonly string[]): string {
  return `/${path.map(encodeURIComponent).join('/')}`
}

export function documentNotFound(): AppError {
  return new AppError('not_found', 'storage_not_found_error: document does not exist')
}
