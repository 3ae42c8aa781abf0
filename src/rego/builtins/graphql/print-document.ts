import { isTypeDefinitionNode, isTypeExtensionNode, Kind } from 'graphql'
import type {
  ArgumentNode,
  DirectiveDefinitionNode,
  DirectiveNode,
  DocumentNode,
  EnumValueDefinitionNode,
  FieldDefinitionNode,
  FragmentDefinitionNode,
  InputValueDefinitionNode,
  OperationDefinitionNode,
  SchemaDefinitionNode,
  SchemaExtensionNode,
  SelectionNode,
  SelectionSetNode,
  TypeDefinitionNode,
  TypeExtensionNode,
  TypeNode,
  ValueNode,
  VariableDefinitionNode,
} from 'graphql'

import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { isArray } from '../shared/operands.js'
import { definitionKind, VALUE_KINDS } from './schema/definition-kinds.js'

/** Converts a schema to the form of gqlparser's SchemaDocument, as in OPA's results. */
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

/** Converts operations and fragments to the form of gqlparser's QueryDocument. */
export function printQuery({ definitions }: DocumentNode): RegoObject {
  return prunedObject({
    Operations: definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION).map(printOperation),
    Fragments: definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).map(printFragment),
  })
}

function printOperation(node: OperationDefinitionNode): RegoObject {
  return prunedObject({
    Operation: node.operation,
    Name: node.name?.value ?? '',
    VariableDefinitions: printVariables(node),
    Directives: printDirectives(node.directives),
    SelectionSet: printSelections(node.selectionSet),
  })
}

function printFragment(node: FragmentDefinitionNode): RegoObject {
  return prunedObject({
    Name: node.name.value,
    VariableDefinition: printVariables(node),
    TypeCondition: node.typeCondition.name.value,
    Directives: printDirectives(node.directives),
    SelectionSet: printSelections(node.selectionSet),
  })
}

/** Operations, and fragments, whose variables are deprecated in the package. */
interface WithVariables {
  readonly variableDefinitions?: readonly VariableDefinitionNode[] | undefined
}

function printVariables({ variableDefinitions = [] }: WithVariables): RegoArray {
  return variableDefinitions.map((node) =>
    prunedObject({
      Variable: node.variable.name.value,
      Type: printType(node.type),
      DefaultValue: node.defaultValue && printValue(node.defaultValue),
      Directives: printDirectives(node.directives),
      Used: false,
    }),
  )
}

function printSelections(set?: SelectionSetNode): RegoArray {
  return (set?.selections ?? []).map(printSelection)
}

function printSelection(node: SelectionNode): RegoObject {
  const Directives = printDirectives(node.directives)
  switch (node.kind) {
    case Kind.FIELD:
      return prunedObject({
        Alias: node.alias?.value ?? node.name.value,
        Name: node.name.value,
        Arguments: printArguments(node.arguments),
        Directives,
        SelectionSet: printSelections(node.selectionSet),
      })
    case Kind.FRAGMENT_SPREAD:
      return prunedObject({ Name: node.name.value, Directives })
    case Kind.INLINE_FRAGMENT:
      return prunedObject({
        TypeCondition: node.typeCondition?.name.value ?? '',
        Directives,
        SelectionSet: printSelections(node.selectionSet),
      })
  }
}

function printDirectives(directives: readonly DirectiveNode[] = []): RegoArray {
  return directives.map(({ name, arguments: args }) =>
    prunedObject({ Name: name.value, Arguments: printArguments(args), Location: '' }),
  )
}

function printArguments(args: readonly ArgumentNode[] = []): RegoArray {
  return args.map(({ name, value }) => prunedObject({ Name: name.value, Value: printValue(value) }))
}

/** Converts a type reference: `[Int!]` is an `Elem` of a type without a name. */
function printType(type: TypeNode): RegoObject {
  const isNonNull = type.kind === Kind.NON_NULL_TYPE
  const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type
  return inner.kind === Kind.LIST_TYPE
    ? prunedObject({ NamedType: '', Elem: printType(inner.type), NonNull: isNonNull })
    : prunedObject({ NamedType: inner.name.value, NonNull: isNonNull })
}

/** Converts a literal or variable: its text, kind, and members. */
function printValue(value: ValueNode): RegoObject {
  return prunedObject({
    Raw: rawText(value),
    Kind: RegoNumber.of(kindNumber(value)),
    // Set during validation; OPA's result shows the state before it.
    ExpectedTypeHasDefault: false,
    Children: printChildren(value),
  })
}

function printChildren(value: ValueNode): RegoArray {
  switch (value.kind) {
    case Kind.LIST:
      return value.values.map((member) => prunedObject({ Name: '', Value: printValue(member) }))
    case Kind.OBJECT:
      return value.fields.map((field) =>
        prunedObject({ Name: field.name.value, Value: printValue(field.value) }),
      )
    default:
      return []
  }
}

function kindNumber(value: ValueNode): number {
  return value.kind === Kind.STRING && value.block === true ? VALUE_KINDS.block : VALUE_KINDS[value.kind]
}

function rawText(value: ValueNode): string {
  switch (value.kind) {
    case Kind.VARIABLE:
      return value.name.value
    case Kind.NULL:
      return 'null'
    case Kind.LIST:
    case Kind.OBJECT:
      return ''
    default:
      return String(value.value)
  }
}

/** Members of a node. OPA omits null and empty members, but keeps empty strings. */
type Members = Readonly<Record<string, RegoValue | undefined>>

/** Creates an object of the members that OPA keeps in a syntax tree. */
function prunedObject(members: Members): RegoObject {
  const kept: [string, RegoValue][] = []
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && !isEmpty(value)) kept.push([name, value])
  }
  return new RegoObject(kept)
}

function isEmpty(value: RegoValue): boolean {
  if (value === null || (isArray(value) && value.length === 0)) return true
  return value instanceof RegoObject && value.entries.length === 0
}
