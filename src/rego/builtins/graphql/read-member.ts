import type { WorkMeter } from '../../metering/work-meter.js'
import { Kind } from 'graphql'
import type { NameNode } from 'graphql'

import { RegoObject, typeName } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/** A syntax tree of a written document stays below it by far. */
const MAX_DEPTH = 1000
/** Steps of each value on its way through the checks. */
const VALUE_STEPS = 200

/** Pays for a syntax tree given as an object; ends the evaluation for one that is deeper than is read. */
export function ensureReadable(tree: RegoValue, meter: WorkMeter): void {
  const visit = (value: RegoValue, depth: number): void => {
    if (depth > MAX_DEPTH) meter.exceed(`a syntax tree is nested deeper than ${MAX_DEPTH} levels`)
    meter.spend(VALUE_STEPS)
    if (isArray(value)) for (const member of value) visit(member, depth + 1)
    if (value instanceof RegoObject) for (const [, member] of value.entries) visit(member, depth + 1)
  }
  visit(tree, 0)
}

/** The text of a member; empty when it is absent, as Go reads JSON. */
export function textOf(node: RegoObject, member: string): string {
  const value = node.get(member) ?? null
  if (value === null) return ''
  return typeof value === 'string' ? value : cannotRead(value, member, 'string')
}

/** A name; empty when the member is absent. */
export function nameOf(node: RegoObject, member = 'Name'): NameNode {
  return toName(textOf(node, member))
}

/** The node of a name. */
export function toName(value: string): NameNode {
  return { kind: Kind.NAME, value }
}

/** True when the member is; false when it is absent. */
export function flagOf(node: RegoObject, member: string): boolean {
  const value = node.get(member) ?? null
  if (value === null) return false
  return typeof value === 'boolean' ? value : cannotRead(value, member, 'bool')
}

/** The object that is a member; undefined when it is absent. */
export function objectOf(node: RegoObject, member: string): RegoObject | undefined {
  const value = node.get(member) ?? null
  return value === null ? undefined : asObject(value, member)
}

/** The objects in a list; none when the member is absent. */
export function objectsOf(node: RegoObject, member: string): readonly RegoObject[] {
  return listOf(node, member).map((value) => asObject(value, member))
}

/** The names in a list of texts. */
export function namesOf(node: RegoObject, member: string): readonly NameNode[] {
  return listOf(node, member).map((value) =>
    toName(typeof value === 'string' ? value : cannotRead(value, member, 'string')),
  )
}

/** Raises the error that Go gives for a JSON value of another type than the member has. */
function cannotRead(value: RegoValue, member: string, wanted: string): never {
  const got = typeof value === 'boolean' ? 'bool' : typeName(value)
  throw new BuiltinError(`json: cannot unmarshal ${got} into Go struct field ${member} of type ${wanted}`)
}

function listOf(node: RegoObject, member: string): RegoArray {
  const value = node.get(member) ?? null
  if (value === null) return []
  return isArray(value) ? value : cannotRead(value, member, 'list')
}

function asObject(value: RegoValue, member: string): RegoObject {
  return value instanceof RegoObject ? value : cannotRead(value, member, 'object')
}
