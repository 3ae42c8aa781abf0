import {
  introspectionTypes,
  isEnumType,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  specifiedDirectives,
  specifiedScalarTypes,
} from 'graphql'
import type { DirectiveDefinitionNode, DocumentNode, TypeDefinitionNode, TypeExtensionNode } from 'graphql'

import { definitionKind, interfacesOf, memberTypesOf } from './definition-kinds.js'
import type { DefinitionKind } from './definition-kinds.js'
import { schemaError } from './source-position.js'

/** The types and directives of a schema, by name. */
export class SchemaSymbols {
  readonly types: ReadonlyMap<string, TypeDefinitionNode>
  readonly directives: ReadonlyMap<string, DirectiveDefinitionNode>
  /** Names of the possible types by the name of an interface or union. */
  readonly #substitutes: ReadonlyMap<string, ReadonlySet<string>>

  /** Throws BuiltinError for a name that is declared twice. */
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
    // A schema may define the built-in directives, repeatedly.
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

/**
 * Returns the types of a schema by name, merged with their extensions. As in gqlparser, an
 * extension of an undefined type defines it. Throws BuiltinError for a second definition and for an
 * extension of another kind.
 */
function mergeExtensions({ definitions }: DocumentNode): ReadonlyMap<string, TypeDefinitionNode> {
  const bases = new Map<string, TypeDefinitionNode>()
  for (const node of definitions.filter(isTypeDefinitionNode)) {
    const name = node.name.value
    if (bases.has(name) || isBuiltinType(name)) schemaError(node, `Cannot redeclare type ${name}.`)
    bases.set(name, node)
  }
  const extensions = new Map<string, TypeExtensionNode[]>()
  for (const node of definitions.filter(isTypeExtensionNode)) {
    const base = bases.get(node.name.value) ?? emptyBase(node)
    bases.set(node.name.value, base)
    const [kind, wanted] = [definitionKind(node), definitionKind(base)]
    if (kind !== wanted) {
      schemaError(
        node,
        `Cannot extend type ${node.name.value} because the base type is a ${wanted}, not ${kind}.`,
      )
    }
    const others = extensions.get(node.name.value)
    if (others === undefined) extensions.set(node.name.value, [node])
    else others.push(node)
  }
  return new Map([...bases].map(([name, base]) => [name, merged(base, extensions.get(name) ?? [])]))
}

const EXTENDED_KINDS = {
  [Kind.SCALAR_TYPE_EXTENSION]: Kind.SCALAR_TYPE_DEFINITION,
  [Kind.OBJECT_TYPE_EXTENSION]: Kind.OBJECT_TYPE_DEFINITION,
  [Kind.INTERFACE_TYPE_EXTENSION]: Kind.INTERFACE_TYPE_DEFINITION,
  [Kind.UNION_TYPE_EXTENSION]: Kind.UNION_TYPE_DEFINITION,
  [Kind.ENUM_TYPE_EXTENSION]: Kind.ENUM_TYPE_DEFINITION,
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: Kind.INPUT_OBJECT_TYPE_DEFINITION,
} as const

function emptyBase({ kind, name, loc }: TypeExtensionNode): TypeDefinitionNode {
  return { kind: EXTENDED_KINDS[kind], name, ...(loc && { loc }) }
}

const LISTS = ['directives', 'interfaces', 'fields', 'types', 'values'] as const
type Lists = Readonly<Partial<Record<(typeof LISTS)[number], readonly unknown[]>>>

function merged(base: TypeDefinitionNode, extensions: readonly TypeExtensionNode[]): TypeDefinitionNode {
  if (extensions.length === 0) return base
  const parts = [base, ...extensions] as readonly Lists[]
  const lists = LISTS.map((list) => [list, parts.flatMap((part) => part[list] ?? [])] as const)
  // The kinds are equal, so each list that is not empty belongs to the base's kind.
  return { ...base, ...Object.fromEntries(lists.filter(([, members]) => members.length > 0)) }
}

const SCALARS: ReadonlySet<string> = new Set(specifiedScalarTypes.map(({ name }) => name))
const INTROSPECTION: ReadonlyMap<string, DefinitionKind> = new Map(
  introspectionTypes.map((type) => [type.name, isEnumType(type) ? 'ENUM' : 'OBJECT']),
)

/** The directives that gqlparser knows; the package also has newer ones. */
const KNOWN_DIRECTIVES: ReadonlySet<string> = new Set(['include', 'skip', 'deprecated', 'specifiedBy'])

/** The permitted locations of the built-in directives. */
const builtinDirectives: ReadonlyMap<string, readonly string[]> = new Map(
  specifiedDirectives
    .filter(({ name }) => KNOWN_DIRECTIVES.has(name))
    .map(({ name, locations }) => [name, locations]),
)

/** Returns true for a built-in type. */
function isBuiltinType(name: string): boolean {
  return builtinTypeKind(name) !== undefined
}

/** Returns the kind of a built-in type; undefined for any other. */
function builtinTypeKind(name: string): DefinitionKind | undefined {
  return SCALARS.has(name) ? 'SCALAR' : INTROSPECTION.get(name)
}
