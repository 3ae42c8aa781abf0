import { Kind } from 'graphql'
import type { DefinitionNode, DirectiveDefinitionNode, DocumentNode, EnumValueDefinitionNode } from 'graphql'
import type { FieldDefinitionNode, InputValueDefinitionNode, OperationTypeDefinitionNode } from 'graphql'
import type { StringValueNode, TypeDefinitionNode, TypeExtensionNode } from 'graphql'

import type { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { flagOf, nameOf, namesOf, objectsOf, textOf } from './read-member.js'
import { readOperationType } from './read-query.js'
import { readDefault, readDirectives, readType, toNamedType } from './read-shared-nodes.js'

/** A schema from gqlparser's SchemaDocument: what `printSchema` makes. */
export function readSchema(tree: RegoObject): DocumentNode {
  const definitions: DefinitionNode[] = [
    ...objectsOf(tree, 'Schema').map((node) => ({
      kind: Kind.SCHEMA_DEFINITION as const,
      ...readDescription(node),
      directives: readDirectives(node),
      operationTypes: readRoots(node),
    })),
    ...objectsOf(tree, 'SchemaExtension').map((node) => ({
      kind: Kind.SCHEMA_EXTENSION as const,
      directives: readDirectives(node),
      operationTypes: readRoots(node),
    })),
    ...objectsOf(tree, 'Directives').map(readDirective),
    ...objectsOf(tree, 'Definitions').map(readDefinition),
    ...objectsOf(tree, 'Extensions').map((node) => toExtension(readDefinition(node))),
  ]
  return { kind: Kind.DOCUMENT, definitions }
}

function readRoots(node: RegoObject): OperationTypeDefinitionNode[] {
  return objectsOf(node, 'OperationTypes').map((root) => ({
    kind: Kind.OPERATION_TYPE_DEFINITION,
    operation: readOperationType(root),
    type: toNamedType(nameOf(root, 'Type')),
  }))
}

function readDirective(node: RegoObject): DirectiveDefinitionNode {
  return {
    kind: Kind.DIRECTIVE_DEFINITION,
    ...readDescription(node),
    name: nameOf(node),
    arguments: readInputs(node, 'Arguments'),
    repeatable: flagOf(node, 'IsRepeatable'),
    locations: namesOf(node, 'Locations'),
  }
}

function readDefinition(node: RegoObject): TypeDefinitionNode {
  const common = { ...readDescription(node), name: nameOf(node), directives: readDirectives(node) }
  const kind = textOf(node, 'Kind')
  switch (kind) {
    case 'SCALAR':
      return { kind: Kind.SCALAR_TYPE_DEFINITION, ...common }
    case 'OBJECT':
      return { kind: Kind.OBJECT_TYPE_DEFINITION, ...common, ...readFields(node) }
    case 'INTERFACE':
      return { kind: Kind.INTERFACE_TYPE_DEFINITION, ...common, ...readFields(node) }
    case 'UNION':
      return { kind: Kind.UNION_TYPE_DEFINITION, ...common, types: namesOf(node, 'Types').map(toNamedType) }
    case 'ENUM':
      return {
        kind: Kind.ENUM_TYPE_DEFINITION,
        ...common,
        values: objectsOf(node, 'EnumValues').map(readEnumValue),
      }
    case 'INPUT_OBJECT':
      return { kind: Kind.INPUT_OBJECT_TYPE_DEFINITION, ...common, fields: readInputs(node, 'Fields') }
    default:
      throw new BuiltinError(`json: "${kind}" is not the kind of a definition`)
  }
}

/** The same members, as an extension of the type. */
function toExtension(node: TypeDefinitionNode): TypeExtensionNode {
  switch (node.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
      return { ...node, kind: Kind.SCALAR_TYPE_EXTENSION }
    case Kind.OBJECT_TYPE_DEFINITION:
      return { ...node, kind: Kind.OBJECT_TYPE_EXTENSION }
    case Kind.INTERFACE_TYPE_DEFINITION:
      return { ...node, kind: Kind.INTERFACE_TYPE_EXTENSION }
    case Kind.UNION_TYPE_DEFINITION:
      return { ...node, kind: Kind.UNION_TYPE_EXTENSION }
    case Kind.ENUM_TYPE_DEFINITION:
      return { ...node, kind: Kind.ENUM_TYPE_EXTENSION }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return { ...node, kind: Kind.INPUT_OBJECT_TYPE_EXTENSION }
  }
}

function readFields(node: RegoObject) {
  return {
    interfaces: namesOf(node, 'Interfaces').map(toNamedType),
    fields: objectsOf(node, 'Fields').map(readField),
  }
}

function readField(node: RegoObject): FieldDefinitionNode {
  return {
    kind: Kind.FIELD_DEFINITION,
    ...readDescription(node),
    name: nameOf(node),
    arguments: readInputs(node, 'Arguments'),
    type: readType(node),
    directives: readDirectives(node),
  }
}

function readInputs(node: RegoObject, member: string): InputValueDefinitionNode[] {
  return objectsOf(node, member).map((input) => {
    const defaultValue = readDefault(input)
    return {
      kind: Kind.INPUT_VALUE_DEFINITION,
      ...readDescription(input),
      name: nameOf(input),
      type: readType(input),
      ...(defaultValue && { defaultValue }),
      directives: readDirectives(input),
    }
  })
}

function readEnumValue(node: RegoObject): EnumValueDefinitionNode {
  return {
    kind: Kind.ENUM_VALUE_DEFINITION,
    ...readDescription(node),
    name: nameOf(node),
    directives: readDirectives(node),
  }
}

function readDescription(node: RegoObject): { readonly description?: StringValueNode } {
  const value = textOf(node, 'Description')
  return value === '' ? {} : { description: { kind: Kind.STRING, value } }
}
