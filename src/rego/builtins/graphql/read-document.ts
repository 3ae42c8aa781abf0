import { Kind, OperationTypeNode } from 'graphql'
import type {
  DefinitionNode,
  DirectiveDefinitionNode,
  DocumentNode,
  EnumValueDefinitionNode,
  FieldDefinitionNode,
  FragmentDefinitionNode,
  InputValueDefinitionNode,
  OperationDefinitionNode,
  OperationTypeDefinitionNode,
  SelectionNode,
  SelectionSetNode,
  StringValueNode,
  TypeDefinitionNode,
  TypeExtensionNode,
  VariableDefinitionNode,
} from 'graphql'

import type { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import {
  flagOf,
  nameOf,
  namesOf,
  objectsOf,
  readArguments,
  readDefault,
  readDirectives,
  readType,
  textOf,
  toName,
  toNamedType,
} from './read-shared-nodes.js'

/** Reads a schema in the form of gqlparser's SchemaDocument, the inverse of `printSchema`. */
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

/** Converts a type definition to an extension with the same members. */
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

/** Reads gqlparser's QueryDocument, the inverse of `printQuery`. */
export function readQuery(tree: RegoObject): DocumentNode {
  const fragments = objectsOf(tree, 'Fragments')
  const reader = new QueryReader(new Set(fragments.map((node) => textOf(node, 'Name'))))
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      ...objectsOf(tree, 'Operations').map((node) => reader.readOperation(node)),
      ...fragments.map((node) => reader.readFragment(node)),
    ],
  }
}

class QueryReader {
  /**
   * Names of fragments. They distinguish a spread from a field without an alias: both only have a
   * name, and OPA takes either for a field.
   */
  readonly #fragments: ReadonlySet<string>

  constructor(fragments: ReadonlySet<string>) {
    this.#fragments = fragments
  }

  readOperation(node: RegoObject): OperationDefinitionNode {
    const name = textOf(node, 'Name')
    return {
      kind: Kind.OPERATION_DEFINITION,
      operation: readOperationType(node),
      ...(name !== '' && { name: toName(name) }),
      ...readVariables(node, 'VariableDefinitions'),
      directives: readDirectives(node),
      selectionSet: this.#readSelections(node),
    }
  }

  readFragment(node: RegoObject): FragmentDefinitionNode {
    return {
      kind: Kind.FRAGMENT_DEFINITION,
      name: nameOf(node),
      ...readVariables(node, 'VariableDefinition'),
      typeCondition: toNamedType(nameOf(node, 'TypeCondition')),
      directives: readDirectives(node),
      selectionSet: this.#readSelections(node),
    }
  }

  #readSelections(node: RegoObject): SelectionSetNode {
    const selections = objectsOf(node, 'SelectionSet').map((selection) => this.#readSelection(selection))
    return { kind: Kind.SELECTION_SET, selections }
  }

  #readSelection(node: RegoObject): SelectionNode {
    const directives = readDirectives(node)
    const name = nameOf(node)
    const hasAlias = node.get('Alias') !== undefined
    if (!hasAlias && this.#fragments.has(name.value)) return { kind: Kind.FRAGMENT_SPREAD, name, directives }
    const selectionSet = this.#readSelections(node)
    if (!hasAlias && name.value === '') {
      const typeCondition = nameOf(node, 'TypeCondition')
      return {
        kind: Kind.INLINE_FRAGMENT,
        ...(typeCondition.value !== '' && { typeCondition: toNamedType(typeCondition) }),
        directives,
        selectionSet,
      }
    }
    return {
      kind: Kind.FIELD,
      alias: nameOf(node, 'Alias'),
      name,
      arguments: readArguments(node),
      directives,
      // An empty selection set is absent: empty members of a syntax tree are dropped.
      ...(selectionSet.selections.length > 0 && { selectionSet }),
    }
  }
}

const OPERATION_TYPES: ReadonlyMap<string, OperationTypeNode> = new Map(
  Object.values(OperationTypeNode).map((type) => [type, type]),
)

function readOperationType(node: RegoObject): OperationTypeNode {
  const name = textOf(node, 'Operation')
  const type = OPERATION_TYPES.get(name)
  if (type === undefined) throw new BuiltinError(`Schema does not support operation type "${name}"`)
  return type
}

interface WithVariables {
  readonly variableDefinitions: VariableDefinitionNode[]
}

function readVariables(node: RegoObject, member: string): WithVariables {
  return { variableDefinitions: objectsOf(node, member).map(readVariable) }
}

function readVariable(node: RegoObject): VariableDefinitionNode {
  const defaultValue = readDefault(node)
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: nameOf(node, 'Variable') },
    type: readType(node),
    ...(defaultValue && { defaultValue }),
    directives: readDirectives(node),
  }
}
