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

import { RegoNumber } from '../../values/value.js'
import type { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { flagOf, nameOf, objectOf, objectsOf, textOf, toName } from './read-member.js'
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
