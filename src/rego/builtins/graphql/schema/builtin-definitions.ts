import { introspectionTypes, isEnumType, specifiedDirectives, specifiedScalarTypes } from 'graphql'

import type { DefinitionKind } from './definition-kinds.js'

const SCALARS: ReadonlySet<string> = new Set(specifiedScalarTypes.map(({ name }) => name))
const INTROSPECTION: ReadonlyMap<string, DefinitionKind> = new Map(
  introspectionTypes.map((type) => [type.name, isEnumType(type) ? 'ENUM' : 'OBJECT']),
)

/** The directives that gqlparser knows by itself; the package knows younger ones too. */
const KNOWN_DIRECTIVES: ReadonlySet<string> = new Set(['include', 'skip', 'deprecated', 'specifiedBy'])

/** Where each directive that every schema has may stand. */
export const builtinDirectives: ReadonlyMap<string, readonly string[]> = new Map(
  specifiedDirectives
    .filter(({ name }) => KNOWN_DIRECTIVES.has(name))
    .map(({ name, locations }) => [name, locations]),
)

/** Whether every schema has this type. */
export function isBuiltinType(name: string): boolean {
  return builtinTypeKind(name) !== undefined
}

/** The kind of a type that every schema has; undefined for any other. */
export function builtinTypeKind(name: string): DefinitionKind | undefined {
  return SCALARS.has(name) ? 'SCALAR' : INTROSPECTION.get(name)
}
