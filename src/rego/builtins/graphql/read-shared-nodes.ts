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

export function readDirectives(node: RegoObject): ConstDirectiveNode[] {
  return objectsOf(node, 'Directives').map((directive) => ({
    kind: Kind.DIRECTIVE,
    name: nameOf(directive),
    arguments: readArguments(directive),
  }))
}

/** Reads the arguments of a field or directive, which may contain variables. */
export function readArguments(node: RegoObject): ConstArgumentNode[] {
  return objectsOf(node, 'Arguments').map((argument) => ({
    kind: Kind.ARGUMENT,
    name: nameOf(argument),
    value: readMember(argument),
  }))
}

/** Reads the default value of a variable, argument or input field; undefined if there is none. */
export function readDefault(node: RegoObject): ConstValueNode | undefined {
  const value = objectOf(node, 'DefaultValue')
  return value && (readValue(value) as ConstValueNode)
}

export function readType(node: RegoObject): TypeNode {
  const type = objectOf(node, 'Type')
  return type === undefined ? toNamedType(toName('')) : toType(type)
}

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

/** Maximum depth, far above that of a parsed document. */
const MAX_DEPTH = 1000
/** Cost in evaluation steps per value for all checks. */
const VALUE_STEPS = 200

/** Charges for a syntax tree that is given as an object. Ends the evaluation if it is too deep. */
export function ensureReadable(tree: RegoValue, meter: WorkMeter): void {
  const visit = (value: RegoValue, depth: number): void => {
    if (depth > MAX_DEPTH) meter.exceed(`a syntax tree is nested deeper than ${MAX_DEPTH} levels`)
    meter.spend(VALUE_STEPS)
    if (isArray(value)) for (const member of value) visit(member, depth + 1)
    if (value instanceof RegoObject) for (const [, member] of value.entries) visit(member, depth + 1)
  }
  visit(tree, 0)
}

/** Returns the text of a member; empty if it is absent, as in Go's JSON. */
export function textOf(node: RegoObject, member: string): string {
  const value = node.get(member) ?? null
  if (value === null) return ''
  return typeof value === 'string' ? value : cannotRead(value, member, 'string')
}

export function nameOf(node: RegoObject, member = 'Name'): NameNode {
  return toName(textOf(node, member))
}

export function toName(value: string): NameNode {
  return { kind: Kind.NAME, value }
}

export function flagOf(node: RegoObject, member: string): boolean {
  const value = node.get(member) ?? null
  if (value === null) return false
  return typeof value === 'boolean' ? value : cannotRead(value, member, 'bool')
}

function objectOf(node: RegoObject, member: string): RegoObject | undefined {
  const value = node.get(member) ?? null
  return value === null ? undefined : asObject(value, member)
}

export function objectsOf(node: RegoObject, member: string): readonly RegoObject[] {
  return listOf(node, member).map((value) => asObject(value, member))
}

export function namesOf(node: RegoObject, member: string): readonly NameNode[] {
  return listOf(node, member).map((value) =>
    toName(typeof value === 'string' ? value : cannotRead(value, member, 'string')),
  )
}

/** Throws Go's error for a JSON value of the wrong type. */
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
