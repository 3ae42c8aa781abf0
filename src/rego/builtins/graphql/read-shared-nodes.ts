import { Kind } from 'graphql'
import type {
  ConstArgumentNode,
  ConstDirectiveNode,
  ConstValueNode,
  NamedTypeNode,
  NameNode,
  TypeNode,
  ValueNode,
} from 'graphql'

import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoNumber, RegoObject, typeName } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'
import { VALUE_KINDS } from './schema/definition-kinds.js'

/** The directives of a node in gqlparser's form. */
export function readDirectives(node: RegoObject): ConstDirectiveNode[] {
  return objectsOf(node, 'Directives').map((directive) => ({
    kind: Kind.DIRECTIVE,
    name: nameOf(directive),
    arguments: readArguments(directive),
  }))
}

/**
 * The arguments that a field or a directive is given. They may hold variables: whether a place allows them is known by
 * its place in the tree alone.
 */
export function readArguments(node: RegoObject): ConstArgumentNode[] {
  return objectsOf(node, 'Arguments').map((argument) => ({
    kind: Kind.ARGUMENT,
    name: nameOf(argument),
    value: readMember(argument),
  }))
}

/** The default value of a variable, an argument or an input field; undefined when there is none. */
export function readDefault(node: RegoObject): ConstValueNode | undefined {
  const value = objectOf(node, 'DefaultValue')
  return value && (readValue(value) as ConstValueNode)
}

/** The type reference of a node. */
export function readType(node: RegoObject): TypeNode {
  const type = objectOf(node, 'Type')
  return type === undefined ? toNamedType(toName('')) : toType(type)
}

/** A reference to a type by its name. */
export function toNamedType(name: NameNode): NamedTypeNode {
  return { kind: Kind.NAMED_TYPE, name }
}

function toType(node: RegoObject): TypeNode {
  const element = objectOf(node, 'Elem')
  const type =
    element === undefined || textOf(node, 'NamedType') !== ''
      ? toNamedType(nameOf(node, 'NamedType'))
      : ({ kind: Kind.LIST_TYPE, type: toType(element) } as const)
  return flagOf(node, 'NonNull') ? { kind: Kind.NON_NULL_TYPE, type } : type
}

function readMember(node: RegoObject): ConstValueNode {
  const value = objectOf(node, 'Value')
  if (value === undefined) throw new BuiltinError('json: member Value is missing')
  return readValue(value) as ConstValueNode
}

function readValue(node: RegoObject): ValueNode {
  const kind = node.get('Kind') ?? RegoNumber.of(0)
  const value = textOf(node, 'Raw')
  switch (kind instanceof RegoNumber ? kind.toNumber() : undefined) {
    case VALUE_KINDS[Kind.VARIABLE]:
      return { kind: Kind.VARIABLE, name: toName(value) }
    case VALUE_KINDS[Kind.INT]:
      return { kind: Kind.INT, value }
    case VALUE_KINDS[Kind.FLOAT]:
      return { kind: Kind.FLOAT, value }
    case VALUE_KINDS[Kind.STRING]:
      return { kind: Kind.STRING, value, block: false }
    case VALUE_KINDS.block:
      return { kind: Kind.STRING, value, block: true }
    case VALUE_KINDS[Kind.BOOLEAN]:
      return { kind: Kind.BOOLEAN, value: value === 'true' }
    case VALUE_KINDS[Kind.NULL]:
      return { kind: Kind.NULL }
    case VALUE_KINDS[Kind.ENUM]:
      return { kind: Kind.ENUM, value }
    case VALUE_KINDS[Kind.LIST]:
      return { kind: Kind.LIST, values: objectsOf(node, 'Children').map(readMember) }
    case VALUE_KINDS[Kind.OBJECT]:
      return { kind: Kind.OBJECT, fields: objectsOf(node, 'Children').map(readObjectField) }
    default:
      throw new BuiltinError('json: member Kind is not the number of a kind of value')
  }
}

function readObjectField(node: RegoObject) {
  return { kind: Kind.OBJECT_FIELD, name: nameOf(node), value: readMember(node) } as const
}

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
function objectOf(node: RegoObject, member: string): RegoObject | undefined {
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
