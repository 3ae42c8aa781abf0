import type { WorkMeter } from '../../metering/work-meter.js'
import { Kind, validate, VariablesInAllowedPositionRule, visit } from 'graphql'
import type { DocumentNode, GraphQLError } from 'graphql'

import { BuiltinError } from '../shared/builtin.js'
import { checkSchema } from './schema/check-schema.js'
import { toExecutableSchema } from './executable-schema.js'
import type { ExecutableSchema } from './executable-schema.js'
import { nodePosition } from './schema/source-position.js'
import { validationRules } from './validation-rules.js'

/** Steps of a node of query and schema in all rules together. */
const NODE_STEPS = 300
/** Steps of comparing two fields of one name, which is done for all of them, and of two fragments. */
const PAIR_STEPS = 50
const FRAGMENT_PAIR_STEPS = 250
/** Errors after which a validation ends, for each of which all names of the schema are looked at for similar ones. */
const MAX_ERRORS = 100
const NAME_STEPS = 5

/** Raises BuiltinError with OPA's text for a schema that contradicts itself. */
export function validateSchema(document: DocumentNode): void {
  checkSchema(document)
}

/** Raises BuiltinError with OPA's text for a schema that contradicts itself, or a query that does not fit it. */
export function validateQuery(query: DocumentNode, schemaDocument: DocumentNode, meter: WorkMeter): void {
  payForValidation(query, schemaDocument, meter)
  const schema = toExecutableSchema(schemaDocument)
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

function payForValidation(query: DocumentNode, schema: DocumentNode, meter: WorkMeter): void {
  const counts = new Map<string, number>()
  let queryNodes = 0
  visit(query, {
    enter() {
      queryNodes++
    },
    Field({ alias, name }) {
      queryNodes++
      const response = (alias ?? name).value
      counts.set(response, (counts.get(response) ?? 0) + 1)
    },
  })
  let schemaNodes = 0
  visit(schema, {
    enter() {
      schemaNodes++
    },
  })
  const pairs = [...counts.values()].reduce((sum, count) => sum + count * count, 0)
  const fragments = query.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length
  meter.spend((queryNodes + schemaNodes) * NODE_STEPS)
  meter.spend(pairs * PAIR_STEPS + fragments * fragments * FRAGMENT_PAIR_STEPS)
  meter.spend(Math.min(MAX_ERRORS, queryNodes) * schemaNodes * NAME_STEPS)
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
  return `${`${texts.join('\n')}\n`.replace(/\.\n$/, '')} in GraphQL string${location}`
}

/** The errors that gqlparser sees at the first node that they are about; the others at the last. */
const AT_FIRST_NODE = /is not defined|must select only one top level field/

function placeOf({ nodes, message }: GraphQLError): string | undefined {
  const node = AT_FIRST_NODE.test(message) ? nodes?.[0] : nodes?.at(-1)
  const position = node && nodePosition(node)
  return position && `${position.line}:${position.column}`
}
