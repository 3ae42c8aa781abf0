import {
  buildASTSchema,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  validate,
  VariablesInAllowedPositionRule,
  visit,
} from 'graphql'
import * as graphql from 'graphql'
import type {
  DocumentNode,
  ASTVisitor,
  GraphQLArgument,
  GraphQLError,
  GraphQLInputField,
  InputValueDefinitionNode,
  ValidationContext,
  ValidationRule,
} from 'graphql'
import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { operand, stringOperand, wrongType } from '../shared/operands.js'
import { parseDocument } from './parse-document.js'
import { printQuery, printSchema } from './print-document.js'
import { readQuery, readSchema } from './read-document.js'
import { ensureReadable } from './read-shared-nodes.js'
import { checkSchema } from './schema/check-schema.js'
import { nodePosition } from './schema/source-position.js'

type Args = readonly RegoValue[]

/** OPA's `graphql.*`: parses and validates queries and schemas, as texts or syntax trees. */
export const graphqlBuiltins: BuiltinTable = {
  'graphql.is_valid': isValid,
  'graphql.parse': parse,
  'graphql.parse_and_verify': parseAndVerify,
  'graphql.parse_query': parseQuery,
  'graphql.parse_schema': parseSchema,
  'graphql.schema_is_valid': isValidSchema,
}

function parseQuery(args: Args, { meter }: BuiltinContext): RegoValue {
  return printQuery(parseDocument(stringOperand(args, 0), 'query', meter))
}

function parseSchema(args: Args, { meter }: BuiltinContext): RegoValue {
  return printSchema(parseDocument(stringOperand(args, 0), 'schema', meter))
}

function isValid(args: Args, { meter }: BuiltinContext): RegoValue {
  return passes(() => verify(args, meter))
}

function isValidSchema(args: Args, { meter }: BuiltinContext): RegoValue {
  return passes(() => {
    validateSchema(schemaOperand(args, 0, meter))
  })
}

function parse(args: Args, { meter }: BuiltinContext): RegoArray {
  const { query, schema } = verify(args, meter)
  return [printQuery(query), printSchema(schema)]
}

function parseAndVerify(args: Args, context: BuiltinContext): RegoValue {
  try {
    return [true, ...parse(args, context)]
  } catch (raw) {
    if (!(raw instanceof BuiltinError)) throw raw
    return [false, new RegoObject([]), new RegoObject([])]
  }
}

interface Verified {
  readonly query: DocumentNode
  readonly schema: DocumentNode
}

function verify(args: Args, meter: WorkMeter): Verified {
  const query = queryOperand(args, meter)
  const schema = schemaOperand(args, 1, meter)
  validateQuery(query, schema, meter)
  return { query, schema }
}

function queryOperand(args: Args, meter: WorkMeter): DocumentNode {
  const value = textOrTree(args, 0, meter)
  return typeof value === 'string' ? parseDocument(value, 'query', meter) : readQuery(value)
}

function schemaOperand(args: Args, index: number, meter: WorkMeter): DocumentNode {
  const value = textOrTree(args, index, meter)
  return typeof value === 'string' ? parseDocument(value, 'schema', meter) : readSchema(value)
}

function textOrTree(args: Args, index: number, meter: WorkMeter): string | RegoObject {
  const value = operand(args, index)
  if (typeof value === 'string') return value
  // OPA counts these operands from 0.
  if (!(value instanceof RegoObject)) return wrongType(index - 1, value, 'string', 'object')
  ensureReadable(value, meter)
  return value
}

/** Cost in evaluation steps per node of query and schema for all rules. */
const NODE_STEPS = 300
/** Steps of comparing two fields of one name, or two fragments. All pairs are compared. */
const PAIR_STEPS = 50
const FRAGMENT_PAIR_STEPS = 250
/**
 * Validation ends after this number of errors. Each searches all names of the schema for a
 * suggestion, at a cost of NAME_STEPS for each node.
 */
const MAX_ERRORS = 100
const NAME_STEPS = 5

/** Throws BuiltinError with OPA's message for an inconsistent schema. */
function validateSchema(document: DocumentNode): void {
  checkSchema(document)
}

/** Throws BuiltinError with OPA's message for an inconsistent schema or an invalid query. */
function validateQuery(query: DocumentNode, schemaDocument: DocumentNode, meter: WorkMeter): void {
  payForValidation(query, schemaDocument, meter)
  const schema = toExecutableSchema(schemaDocument)
  const errors = findErrors(query, schema).filter((error) => !isTooStrict(error))
  if (errors.length > 0) throw new BuiltinError(describe(errors))
}

/**
 * Validates in two passes, like gqlparser, which OPA uses. The first pass checks the types of
 * variables as if no input had a default value. In the second pass, an input with a default value
 * may be left out.
 */
function findErrors(query: DocumentNode, { schema, defaulted }: ExecutableSchema): readonly GraphQLError[] {
  const misplaced = validate(schema, query, [VariablesInAllowedPositionRule])
  // Any default value, null too, makes an input optional.
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

/** gqlparser accepts an integer of any size as an Int. */
function isTooStrict({ message }: GraphQLError): boolean {
  return message.startsWith('Int cannot represent non 32-bit signed integer value')
}

/** OPA prints the errors without the first one's position and without a final full stop. */
function describe(errors: readonly GraphQLError[]): string {
  const [first] = errors
  const texts = errors.map((error) => {
    const position = locationOf(error)
    return error === first
      ? error.message
      : `input${position === undefined ? '' : `:${position}`}: ${error.message}`
  })
  const position = first && locationOf(first)
  const location = position === undefined ? '' : ` at location ${position}`
  return `${`${texts.join('\n')}\n`.replace(/\.\n$/, '')} in GraphQL string${location}`
}

/** Errors that gqlparser reports at their first node; it reports others at the last. */
const AT_FIRST_NODE = /is not defined|must select only one top level field/

function locationOf({ nodes, message }: GraphQLError): string | undefined {
  const node = AT_FIRST_NODE.test(message) ? nodes?.[0] : nodes?.at(-1)
  const position = node && nodePosition(node)
  return position && `${position.line}:${position.column}`
}

/** Schemas are checked by gqlparser's rules, so the graphql package must not check them. */
const ASSUME_VALID = { assumeValid: true, assumeValidSDL: true }

/** A schema for validating queries, and its inputs that have a default value. */
interface ExecutableSchema {
  readonly schema: GraphQLSchema
  /** Set before the second pass: inputs that may be omitted. The schema lacks their values. */
  readonly defaulted: readonly (GraphQLArgument | GraphQLInputField)[]
}

/**
 * Builds the schema of a document without default values: the package would evaluate them,
 * endlessly if one refers to itself. Throws BuiltinError with OPA's message for an inconsistent
 * schema.
 */
function toExecutableSchema(document: DocumentNode): ExecutableSchema {
  const symbols = checkSchema(document)
  const roots = document.definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  )
  // In gqlparser no directive of a query is repeatable.
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

/** gqlparser's rules for queries in its order, except variables in allowed positions. */
const validationRules: readonly ValidationRule[] = [
  graphql.FieldsOnCorrectTypeRule,
  graphql.FragmentsOnCompositeTypesRule,
  graphql.KnownArgumentNamesRule,
  graphql.KnownDirectivesRule,
  graphql.KnownFragmentNamesRule,
  knownRootTypeRule,
  graphql.KnownTypeNamesRule,
  graphql.LoneAnonymousOperationRule,
  graphql.NoFragmentCyclesRule,
  graphql.NoUndefinedVariablesRule,
  graphql.NoUnusedFragmentsRule,
  graphql.NoUnusedVariablesRule,
  graphql.OverlappingFieldsCanBeMergedRule,
  graphql.PossibleFragmentSpreadsRule,
  graphql.ProvidedRequiredArgumentsRule,
  graphql.ScalarLeafsRule,
  graphql.SingleFieldSubscriptionsRule,
  graphql.UniqueArgumentNamesRule,
  graphql.UniqueDirectivesPerLocationRule,
  graphql.UniqueFragmentNamesRule,
  graphql.UniqueInputFieldNamesRule,
  graphql.UniqueOperationNamesRule,
  graphql.UniqueVariableNamesRule,
  graphql.ValuesOfCorrectTypeRule,
  graphql.VariablesAreInputTypesRule,
]

/** Reports an operation without a root type. The package only checks this at execution. */
function knownRootTypeRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return
      context.reportError(
        new graphql.GraphQLError(`Schema does not support operation type "${node.operation}"`, {
          nodes: node,
        }),
      )
    },
  }
}
