import type { FieldDefinitionNode, InputValueDefinitionNode, TypeDefinitionNode } from 'graphql'

/** A field of an object or an interface, or of an input. */
export type MemberField = FieldDefinitionNode | InputValueDefinitionNode

/** The fields of a definition; none for a kind that has none. */
export function fieldsOf(definition: TypeDefinitionNode): readonly MemberField[] {
  return ('fields' in definition ? definition.fields : undefined) ?? []
}

/** The arguments of a field; none for a field of an input. */
export function argumentsOf(field: MemberField): readonly InputValueDefinitionNode[] {
  return ('arguments' in field ? field.arguments : undefined) ?? []
}

/** The names of the interfaces that a definition implements. */
export function interfacesOf(definition: TypeDefinitionNode): readonly string[] {
  const interfaces = 'interfaces' in definition ? definition.interfaces : undefined
  return (interfaces ?? []).map(({ name }) => name.value)
}

/** The names of the members of a union. */
export function memberTypesOf(definition: TypeDefinitionNode): readonly string[] {
  const types = 'types' in definition ? definition.types : undefined
  return (types ?? []).map(({ name }) => name.value)
}

/** The names of the values of an enum. */
export function enumValuesOf(definition: TypeDefinitionNode): readonly string[] {
  const values = 'values' in definition ? definition.values : undefined
  return (values ?? []).map(({ name }) => name.value)
}
