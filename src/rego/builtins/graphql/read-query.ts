import { Kind, OperationTypeNode } from 'graphql'
import type { DocumentNode, FragmentDefinitionNode, OperationDefinitionNode, SelectionNode } from 'graphql'
import type { SelectionSetNode, VariableDefinitionNode } from 'graphql'

import type { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { nameOf, objectsOf, textOf, toName } from './read-member.js'
import { readArguments, readDefault, readDirectives, readType, toNamedType } from './read-shared-nodes.js'

/** A document of operations and fragments from gqlparser's QueryDocument: what `printQuery` makes. */
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
  /** What tells a spread from a field without an alias: both have but a name, and OPA takes either for a field. */
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
      // An empty set is one that the query has not: the members of a syntax tree that are empty are dropped.
      ...(selectionSet.selections.length > 0 && { selectionSet }),
    }
  }
}

const OPERATION_TYPES: ReadonlyMap<string, OperationTypeNode> = new Map(
  Object.values(OperationTypeNode).map((type) => [type, type]),
)

/** Which of the three operations a node names. */
export function readOperationType(node: RegoObject): OperationTypeNode {
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
