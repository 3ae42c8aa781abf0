import { isTypeDefinitionNode, isTypeExtensionNode, Kind } from 'graphql'
import type {
  DirectiveDefinitionNode,
  DocumentNode,
  EnumValueDefinitionNode,
  FieldDefinitionNode,
} from 'graphql'
import type { InputValueDefinitionNode, SchemaDefinitionNode, SchemaExtensionNode } from 'graphql'
import type { TypeDefinitionNode, TypeExtensionNode } from 'graphql'

import type { RegoArray, RegoObject } from '../../values/value.js'
import { definitionKind } from './schema/definition-kinds.js'
import { printDirectives, printType, printValue } from './print-shared-nodes.js'
import { prunedObject } from './pruned-object.js'
import type { Members } from './pruned-object.js'

/** A schema in the form of gqlparser's SchemaDocument, as OPA gives it. */
export function printSchema({ definitions }: DocumentNode): RegoObject {
  return prunedObject({
    Schema: definitions.filter((node) => node.kind === Kind.SCHEMA_DEFINITION).map(printRoots),
    SchemaExtension: definitions.filter((node) => node.kind === Kind.SCHEMA_EXTENSION).map(printRoots),
    Directives: definitions.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION).map(printDirective),
    Definitions: definitions.filter(isTypeDefinitionNode).map(printDefinition),
    Extensions: definitions.filter(isTypeExtensionNode).map(printDefinition),
  })
}

function printRoots(node: SchemaDefinitionNode | SchemaExtensionNode): RegoObject {
  return prunedObject({
    Description: node.kind === Kind.SCHEMA_DEFINITION ? descriptionOf(node) : '',
    Directives: printDirectives(node.directives),
    OperationTypes: (node.operationTypes ?? []).map(({ operation, type }) =>
      prunedObject({ Operation: operation, Type: type.name.value }),
    ),
  })
}

function printDirective(node: DirectiveDefinitionNode): RegoObject {
  return prunedObject({
    Description: descriptionOf(node),
    Name: node.name.value,
    Arguments: printInputs(node.arguments),
    Locations: node.locations.map(({ value }) => value),
    IsRepeatable: node.repeatable,
  })
}

function printDefinition(node: TypeDefinitionNode | TypeExtensionNode): RegoObject {
  return prunedObject({
    Kind: definitionKind(node),
    Description: 'description' in node ? descriptionOf(node) : '',
    Name: node.name.value,
    Directives: printDirectives(node.directives),
    BuiltIn: false,
    ...membersOf(node),
  })
}

function membersOf(node: TypeDefinitionNode | TypeExtensionNode): Members {
  if ('values' in node) return { EnumValues: (node.values ?? []).map(printEnumValue) }
  if ('types' in node) return { Types: (node.types ?? []).map(({ name }) => name.value) }
  if ('interfaces' in node) {
    return {
      Interfaces: (node.interfaces ?? []).map(({ name }) => name.value),
      Fields: (node.fields ?? []).map(printField),
    }
  }
  return 'fields' in node ? { Fields: printInputs(node.fields as readonly InputValueDefinitionNode[]) } : {}
}

function printField(node: FieldDefinitionNode): RegoObject {
  return prunedObject({
    Description: descriptionOf(node),
    Name: node.name.value,
    Arguments: printInputs(node.arguments),
    Type: printType(node.type),
    Directives: printDirectives(node.directives),
  })
}

function printInputs(nodes: readonly InputValueDefinitionNode[] = []): RegoArray {
  return nodes.map((node) =>
    prunedObject({
      Description: descriptionOf(node),
      Name: node.name.value,
      DefaultValue: node.defaultValue && printValue(node.defaultValue),
      Type: printType(node.type),
      Directives: printDirectives(node.directives),
    }),
  )
}

function printEnumValue(node: EnumValueDefinitionNode): RegoObject {
  return prunedObject({
    Description: descriptionOf(node),
    Name: node.name.value,
    Directives: printDirectives(node.directives),
  })
}

function descriptionOf({
  description,
}: {
  readonly description?: { readonly value: string } | undefined
}): string {
  return description?.value ?? ''
}
