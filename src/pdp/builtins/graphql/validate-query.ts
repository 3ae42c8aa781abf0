import { validate, VariablesInAllowedPositionRule, visit } from 'graphql'
import type { DocumentNode, GraphQLError } from 'graphql'

import { BuiltinError } from '../builtin.js'
import { checkSchema } from './check-schema.js'
import { toExecutableSchema } from './executable-schema.js'
import type { ExecutableSchema } from './executable-schema.js'
import { nodePosition } from './source-position.js'
import { validationRules } from './validation-rules.js'

/**
 * How many pairs of fields of one name are compared at most: every field is compared with every other that gives the
 * same name to its result.
 */
const MAX_FIELD_PAIRS = 1_000_000

/** Raises BuiltinError with OPA's text for a schema that contradicts itself. */
export function validateSchema(document: DocumentNode): void {
  checkSchema(document)
}

/** Raises BuiltinError with OPA's text for a schema that contradicts itself, or a query that does not fit it. */
export function validateQuery(query: DocumentNode, schemaDocument: DocumentNode): void {
  const schema = toExecutableSchema(schemaDocument)
  ensureFewPairs(query)
  const errors = findErrors(query, schema).filter((error) => !isTooStrict(error))
  if (errors.length > 0) throw new BuiltinError(describe(errors))
}

/**
 * gqlparser has no regard to a default value when a variable stands for an input, but lets the input be left out for it:
 * two passes, of which the second sees that there are values.
 */
function findErrors(query: DocumentNode, { schema, defaulted }: ExecutableSchema): readonly GraphQLError[] {
  const misplaced = validate(schema, query, [VariablesInAllowedPositionRule])
  for (const input of defaulted) input.defaultValue = null
  return [...misplaced, ...validate(schema, query, validationRules)]
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
