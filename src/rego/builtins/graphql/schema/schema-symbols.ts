import { Kind } from 'graphql'
import type { DirectiveDefinitionNode, DocumentNode, TypeDefinitionNode } from 'graphql'

import { builtinDirectives, builtinTypeKind } from './builtin-definitions.js'
import { definitionKind } from './definition-kinds.js'
import type { DefinitionKind } from './definition-kinds.js'
import { interfacesOf, memberTypesOf } from './definition-members.js'
import { mergeExtensions } from './merge-extensions.js'
import { schemaError } from './schema-error.js'

/** What the names in a schema stand for. */
export class SchemaSymbols {
  readonly types: ReadonlyMap<string, TypeDefinitionNode>
  readonly directives: ReadonlyMap<string, DirectiveDefinitionNode>
  /** By the name of an interface or a union, which types stand for it. */
  readonly #substitutes: ReadonlyMap<string, ReadonlySet<string>>

  /** Raises BuiltinError for a name that is declared twice. */
  constructor(document: DocumentNode) {
    this.types = mergeExtensions(document)
    this.directives = collectDirectives(document)
    this.#substitutes = collectSubstitutes([...this.types.values()])
  }

  kindOf(typeName: string): DefinitionKind | undefined {
    const definition = this.types.get(typeName)
    return definition === undefined ? builtinTypeKind(typeName) : definitionKind(definition)
  }

  locationsOf(directive: string): readonly string[] | undefined {
    const definition = this.directives.get(directive)
    return definition === undefined
      ? builtinDirectives.get(directive)
      : definition.locations.map(({ value }) => value)
  }

  isSubstitute(typeName: string, wanted: string): boolean {
    return typeName === wanted || (this.#substitutes.get(wanted)?.has(typeName) ?? false)
  }
}

function collectDirectives({ definitions }: DocumentNode): ReadonlyMap<string, DirectiveDefinitionNode> {
  const directives = new Map<string, DirectiveDefinitionNode>()
  for (const node of definitions) {
    if (node.kind !== Kind.DIRECTIVE_DEFINITION) continue
    const name = node.name.value
    // A schema may define the directives that every schema has, and again.
    if (directives.has(name) && !builtinDirectives.has(name)) {
      schemaError(node, `Cannot redeclare directive ${name}.`)
    }
    directives.set(name, node)
  }
  return directives
}

function collectSubstitutes(types: readonly TypeDefinitionNode[]): ReadonlyMap<string, ReadonlySet<string>> {
  const substitutes = new Map<string, Set<string>>()
  const add = (abstract: string, name: string): void => {
    const names = substitutes.get(abstract)
    if (names === undefined) substitutes.set(abstract, new Set([name]))
    else names.add(name)
  }
  for (const type of types) {
    for (const member of memberTypesOf(type)) add(type.name.value, member)
    for (const name of interfacesOf(type)) add(name, type.name.value)
  }
  return substitutes
}
