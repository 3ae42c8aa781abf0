import { Kind } from 'graphql'
import type { DocumentNode, FragmentDefinitionNode, OperationDefinitionNode, SelectionNode } from 'graphql'
import type { SelectionSetNode, VariableDefinitionNode } from 'graphql'

import type { RegoArray, RegoObject } from '../../values/value.js'
import { printArguments, printDirectives, printType, printValue } from './print-shared-nodes.js'
import { prunedObject } from './pruned-object.js'

/** A document of operations and fragments in the form of gqlparser's QueryDocument, as OPA gives it. */
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

/** Operations, and fragments, where the package has deprecated them. */
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
