import { Kind } from 'graphql'
import type {
  FieldDefinitionNode,
  InputValueDefinitionNode,
  TypeDefinitionNode,
  TypeExtensionNode,
} from 'graphql'

/** gqlparser's names for the kinds of types. */
export type DefinitionKind = 'SCALAR' | 'OBJECT' | 'INTERFACE' | 'UNION' | 'ENUM' | 'INPUT_OBJECT'

const DEFINITION_KINDS: Readonly<Record<(TypeDefinitionNode | TypeExtensionNode)['kind'], DefinitionKind>> = {
  [Kind.SCALAR_TYPE_DEFINITION]: 'SCALAR',
  [Kind.SCALAR_TYPE_EXTENSION]: 'SCALAR',
  [Kind.OBJECT_TYPE_DEFINITION]: 'OBJECT',
  [Kind.OBJECT_TYPE_EXTENSION]: 'OBJECT',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'INTERFACE',
  [Kind.INTERFACE_TYPE_EXTENSION]: 'INTERFACE',
  [Kind.UNION_TYPE_DEFINITION]: 'UNION',
  [Kind.UNION_TYPE_EXTENSION]: 'UNION',
  [Kind.ENUM_TYPE_DEFINITION]: 'ENUM',
  [Kind.ENUM_TYPE_EXTENSION]: 'ENUM',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'INPUT_OBJECT',
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: 'INPUT_OBJECT',
}

/** Returns the kind of type that a definition defines or an extension extends. */
export function definitionKind(node: TypeDefinitionNode | TypeExtensionNode): DefinitionKind {
  return DEFINITION_KINDS[node.kind]
}

/** gqlparser's numbers for the kinds of literals. */
export const VALUE_KINDS = {
  [Kind.VARIABLE]: 0,
  [Kind.INT]: 1,
  [Kind.FLOAT]: 2,
  [Kind.STRING]: 3,
  block: 4,
  [Kind.BOOLEAN]: 5,
  [Kind.NULL]: 6,
  [Kind.ENUM]: 7,
  [Kind.LIST]: 8,
  [Kind.OBJECT]: 9,
} as const

/** A field of an object or an interface, or of an input. */
export type MemberField = FieldDefinitionNode | InputValueDefinitionNode

export function fieldsOf(definition: TypeDefinitionNode): readonly MemberField[] {
  return ('fields' in definition ? definition.fields : undefined) ?? []
}

export function argumentsOf(field: MemberField): readonly InputValueDefinitionNode[] {
  return ('arguments' in field ? field.arguments : undefined) ?? []
}

export function interfacesOf(definition: TypeDefinitionNode): readonly string[] {
  const interfaces = 'interfaces' in definition ? definition.interfaces : undefined
  return (interfaces ?? []).map(({ name }) => name.value)
}

export function memberTypesOf(definition: TypeDefinitionNode): readonly string[] {
  const types = 'types' in definition ? definition.types : undefined
  return (types ?? []).map(({ name }) => name.value)
}

export function enumValuesOf(definition: TypeDefinitionNode): readonly string[] {
  const values = 'values' in definition ? definition.values : undefined
  return (values ?? []).map(({ name }) => name.value)
}
