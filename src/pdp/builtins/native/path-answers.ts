import { RegoObject, RegoSet } from '../../rego/value.js'
import type { RegoValue } from '../../rego/value.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { collectionOperand, isArray, operand } from '../shared/operands.js'

/** What paths lead to: segments to what follows them, or null where a path ends. */
interface Branches {
  readonly below: [segment: RegoValue, next: Branches | null][]
}

const filter: Builtin = (args) => {
  return kept(operand(args, 0), treeOf(collectionOperand(args, 1)))
}

const remove: Builtin = (args) => without(operand(args, 0), treeOf(collectionOperand(args, 1)))

export const pathAnswers: BuiltinTable = { 'json.filter': filter, 'json.remove': remove }

/** A path that goes on below the end of another changes nothing; one that ends above others takes their place. */
function treeOf(paths: readonly RegoValue[]): RegoObject {
  const root: Branches = { below: [] }
  for (const path of paths) insert(root, segmentsOf(path))
  return objectOf(root)
}

function insert(root: Branches, segments: readonly RegoValue[]): void {
  let node = root
  for (const [index, segment] of segments.entries()) {
    const at = node.below.find(([key]) => new RegoObject([[key, null]]).get(segment) !== undefined)
    const isLast = index === segments.length - 1
    if (at === undefined) {
      const next = isLast ? null : { below: [] }
      node.below.push([segment, next])
      if (next === null) return
      node = next
    } else if (isLast) {
      at[1] = null
      return
    } else if (at[1] === null) return
    else node = at[1]
  }
}

function objectOf({ below }: Branches): RegoObject {
  return new RegoObject(below.map(([key, next]) => [key, next === null ? null : objectOf(next)]))
}

/** A text is a JSON pointer, with or without its first slash. */
function segmentsOf(path: RegoValue): readonly RegoValue[] {
  if (typeof path !== 'string') return isArray(path) ? path : []
  if (path === '') return []
  return path
    .replace(/^\/+/, '')
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What of a value the tree names; undefined where nothing. */
function kept(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === null) return value
  if (!(tree instanceof RegoObject)) return undefined
  if (value instanceof RegoObject) {
    return new RegoObject(
      value.entries.flatMap(([key, member]) => {
        const left = kept(member, tree.get(key))
        return left === undefined ? [] : [[key, left] as const]
      }),
    )
  }
  if (value instanceof RegoSet) {
    return new RegoSet(value.members.flatMap((member) => definedOnly(kept(member, tree.get(member)))))
  }
  if (isArray(value))
    return value.flatMap((member, index) => definedOnly(kept(member, tree.get(String(index)))))
  return value
}

/** A value without what the tree names; undefined where that is all of it. */
function without(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === undefined) return value
  if (!(tree instanceof RegoObject)) return undefined
  if (value instanceof RegoObject) {
    return new RegoObject(
      value.entries.flatMap(([key, member]) => {
        const left = without(member, tree.get(key))
        return left === undefined ? [] : [[key, left] as const]
      }),
    )
  }
  if (value instanceof RegoSet) {
    return new RegoSet(value.members.flatMap((member) => definedOnly(without(member, tree.get(member)))))
  }
  if (isArray(value))
    return value.flatMap((member, index) => definedOnly(without(member, tree.get(String(index)))))
  return value
}

function definedOnly(value: RegoValue | undefined): RegoValue[] {
  return value === undefined ? [] : [value]
}
