import { isTypeDefinitionNode, isTypeExtensionNode, Kind } from 'graphql'
import type { DocumentNode, TypeDefinitionNode, TypeExtensionNode } from 'graphql'

import { definitionKind } from './definition-kinds.js'
import { isBuiltinType } from './builtin-definitions.js'
import { schemaError } from './schema-error.js'

/**
 * The types of a schema by name, each with its extensions in it. As in gqlparser an extension of a type that is not
 * defined defines it. Raises BuiltinError for a second definition and for an extension of another kind.
 */
export function mergeExtensions({ definitions }: DocumentNode): ReadonlyMap<string, TypeDefinitionNode> {
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
  // Kinds are equal, so that each list that is not empty is one of the base's own.
  return { ...base, ...Object.fromEntries(lists.filter(([, members]) => members.length > 0)) }
}
