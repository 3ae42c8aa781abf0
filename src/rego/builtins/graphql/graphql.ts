import type { WorkMeter } from '../../metering/work-meter.js'
import type { DocumentNode } from 'graphql'

import { RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { parseDocument } from './parse-document.js'
import { printQuery, printSchema } from './print-document.js'
import { ensureReadable } from './read-shared-nodes.js'
import { readQuery, readSchema } from './read-document.js'
import { validateQuery, validateSchema } from './validate-query.js'
import { operand, stringOperand, wrongType } from '../shared/operands.js'

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
