import { buildASTSchema, GraphQLSchema, Kind, validate, visit } from 'graphql'
import type { DocumentNode, GraphQLError } from 'graphql'

import { BuiltinError } from '../builtin.js'
import { checkSchema } from './check-schema.js'
import { nodePosition } from './source-position.js'
import { validationRules } from './validation-rules.js'

/**
 * How many pairs of fields of one name are compared at most: every field is compared with every other that gives the
 * same name to its result.
 */
const MAX_FIELD_PAIRS = 1_000_000

/** The rules that hold for a schema are gqlparser's, not those of the package. */
const ASSUME_VALID = { assumeValid: true, assumeValidSDL: true }

/** Raises BuiltinError with OPA's text for a schema that contradicts itself. */
export function validateSchema(document: DocumentNode): void {
  checkSchema(document)
}

/** Raises BuiltinError with OPA's text for a schema that contradicts itself, or a query that does not fit it. */
export function validateQuery(query: DocumentNode, schemaDocument: DocumentNode): void {
  const schema = buildSchema(schemaDocument)
  ensureFewPairs(query)
  const errors = validate(schema, query, validationRules).filter((error) => !isTooStrict(error))
  if (errors.length > 0) throw new BuiltinError(describe(errors))
}

function buildSchema(document: DocumentNode): GraphQLSchema {
  const symbols = checkSchema(document)
  const roots = document.definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  )
  // gqlparser lets no directive of a query repeat.
  const directives = [...symbols.directives.values()].map((node) => ({ ...node, repeatable: false }))
  const definitions = [...roots, ...directives, ...symbols.types.values()]
  const config = buildASTSchema({ kind: Kind.DOCUMENT, definitions }, ASSUME_VALID).toConfig()
  return new GraphQLSchema({
    ...config,
    ...ASSUME_VALID,
    directives: config.directives.filter(({ name }) => symbols.locationsOf(name) !== undefined),
  })
}

function ensureFewPairs(query: DocumentNode): void {
  const counts = new Map<string, number>()
  visit(query, {
    Field({ alias, name }) {
      const response = (alias ?? name).value
      counts.set(response, (counts.get(response) ?? 0) + 1)
    },
  })
  const pairs = [...counts.values()].reduce((sum, count) => sum + count * count, 0)
  if (pairs > MAX_FIELD_PAIRS) throw new BuiltinError('query has too many fields of one name')
}

/** gqlparser takes an integer of any size for an Int. */
function isTooStrict({ message }: GraphQLError): boolean {
  return message.startsWith('Int cannot represent non 32-bit signed integer value')
}

/** OPA takes the text of the whole list of errors, cuts the place off its first, and drops a full stop at its end. */
function describe(errors: readonly GraphQLError[]): string {
  const [first] = errors
  const texts = errors.map((error) => {
    const place = placeOf(error)
    return error === first
      ? error.message
      : `input${place === undefined ? '' : `:${place}`}: ${error.message}`
  })
  const place = first && placeOf(first)
  const location = place === undefined ? '' : ` at location ${place}`
  return `${`${texts.join('\n')}\n`.replace(/\.\n$/, '')} in GraphQL query string${location}`
}

/** The errors that gqlparser sees at the first node that they are about; the others at the last. */
const AT_FIRST_NODE = /is not defined|must select only one top level field/

function placeOf({ nodes, message }: GraphQLError): string | undefined {
  const node = AT_FIRST_NODE.test(message) ? nodes?.[0] : nodes?.at(-1)
  const position = node && nodePosition(node)
  return position && `${position.line}:${position.column}`
}
