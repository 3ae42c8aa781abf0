import { RegoObject, RegoSet, identityKey } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { collectionOperand, isArray, operand } from '../shared/operands.js'

/** A tree of paths by segment identity: the segment and its subtree, null at an end. */
type Branches = Map<string, readonly [segment: RegoValue, next: Branches | null]>

const filter: Builtin = (args) => {
  return kept(operand(args, 0), treeOf(collectionOperand(args, 1)))
}

const remove: Builtin = (args) => without(operand(args, 0), treeOf(collectionOperand(args, 1)))

export const pathAnswers: BuiltinTable = { 'json.filter': filter, 'json.remove': remove }

/** A path below the end of another is ignored; a path that ends above others replaces them. */
function treeOf(paths: readonly RegoValue[]): RegoObject {
  const root: Branches = new Map()
  for (const path of paths) insert(root, segmentsOf(path))
  return objectOf(root)
}

function insert(root: Branches, segments: readonly RegoValue[]): void {
  let node = root
  for (const [index, segment] of segments.entries()) {
    const key = identityKey(segment)
    if (index === segments.length - 1) {
      node.set(key, [segment, null])
      return
    }
    const [, next] = node.get(key) ?? [segment, new Map() satisfies Branches]
    if (next === null) return
    node.set(key, [segment, next])
    node = next
  }
}

function objectOf(branches: Branches): RegoObject {
  return new RegoObject(
    Array.from(branches.values(), ([key, next]) => [key, next === null ? null : objectOf(next)]),
  )
}

/** A string is a JSON pointer, with or without its first slash. */
function segmentsOf(path: RegoValue): readonly RegoValue[] {
  if (typeof path !== 'string') return isArray(path) ? path : []
  if (path === '') return []
  return path
    .replace(/^\/+/, '')
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the parts of a value that are in the tree; undefined if there are none. */
function kept(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === null) return value
  return tree instanceof RegoObject ? eachMember(value, tree, kept) : undefined
}

/** Returns a value without the parts in the tree; undefined if nothing is left. */
function without(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === undefined) return value
  return tree instanceof RegoObject ? eachMember(value, tree, without) : undefined
}

/** Rebuilds a container from its remaining members; scalars are unchanged. */
function eachMember(value: RegoValue, tree: RegoObject, leftOf: typeof kept): RegoValue {
  if (value instanceof RegoObject) {
    return new RegoObject(
      value.entries.flatMap(([key, member]) => {
        const left = leftOf(member, tree.get(key))
        return left === undefined ? [] : [[key, left] as const]
      }),
    )
  }
  if (value instanceof RegoSet) {
    return new RegoSet(value.members.flatMap((member) => definedOnly(leftOf(member, tree.get(member)))))
  }
  if (isArray(value))
    return value.flatMap((member, index) => definedOnly(leftOf(member, tree.get(String(index)))))
  return value
}

function definedOnly(value: RegoValue | undefined): RegoValue[] {
  return value === undefined ? [] : [value]
}
