import {
  buildASTSchema,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  visit,
} from 'graphql'
import type { DocumentNode, GraphQLArgument, GraphQLInputField, InputValueDefinitionNode } from 'graphql'

import { checkSchema } from './schema/check-schema.js'

/** The rules that hold for a schema are gqlparser's, not those of the package. */
const ASSUME_VALID = { assumeValid: true, assumeValidSDL: true }

/** A schema that queries are validated against, and the inputs in it that have a default value. */
export interface ExecutableSchema {
  readonly schema: GraphQLSchema
  /** Set from when on those inputs may be left out: their values are not in the schema. */
  readonly defaulted: readonly (GraphQLArgument | GraphQLInputField)[]
}

/**
 * The schema of a document, without default values: the package would compute them when it builds the schema, and one
 * that refers to itself has no end. Raises BuiltinError with OPA's text for a schema that contradicts itself.
 */
export function toExecutableSchema(document: DocumentNode): ExecutableSchema {
  const symbols = checkSchema(document)
  const roots = document.definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  )
  // gqlparser lets no directive of a query repeat.
  const directives = [...symbols.directives.values()].map((node) => ({ ...node, repeatable: false }))
  const definitions = [...roots, ...directives, ...symbols.types.values()]
  const { plain, stripped } = stripDefaults({ kind: Kind.DOCUMENT, definitions })
  const config = buildASTSchema(plain, ASSUME_VALID).toConfig()
  const schema = new GraphQLSchema({
    ...config,
    ...ASSUME_VALID,
    directives: config.directives.filter(({ name }) => symbols.locationsOf(name) !== undefined),
  })
  const isStripped = ({ astNode }: GraphQLArgument | GraphQLInputField) => !!astNode && stripped.has(astNode)
  return { schema, defaulted: inputsOf(schema).filter(isStripped) }
}

interface PlainDocument {
  readonly plain: DocumentNode
  readonly stripped: ReadonlySet<InputValueDefinitionNode>
}

function stripDefaults(document: DocumentNode): PlainDocument {
  const stripped = new Set<InputValueDefinitionNode>()
  const plain = visit(document, {
    InputValueDefinition({ defaultValue, ...node }) {
      if (defaultValue === undefined) return undefined
      stripped.add(node)
      return node
    },
  })
  return { plain, stripped }
}

function inputsOf(schema: GraphQLSchema): (GraphQLArgument | GraphQLInputField)[] {
  const ofTypes = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (isInputObjectType(type)) return Object.values(type.getFields())
    if (!isObjectType(type) && !isInterfaceType(type)) return []
    return Object.values(type.getFields()).flatMap(({ args }) => args)
  })
  return [...ofTypes, ...schema.getDirectives().flatMap(({ args }) => args)]
}
