import type { DocumentNode } from 'graphql'

import { RegoObject } from '../rego/value.js'
import type { RegoArray, RegoValue } from '../rego/value.js'
import { BuiltinError } from './builtin.js'
import type { BuiltinTable } from './builtin.js'
import { parseDocument } from './graphql/parse-document.js'
import { printQuery } from './graphql/print-query.js'
import { printSchema } from './graphql/print-schema.js'
import { ensureReadable } from './graphql/read-member.js'
import { readQuery } from './graphql/read-query.js'
import { readSchema } from './graphql/read-schema.js'
import { validateQuery, validateSchema } from './graphql/validate-query.js'
import { operand, stringOperand, wrongType } from './operands.js'

type Args = readonly RegoValue[]

/** OPA's `graphql.*`: parse queries and schemas, given as texts or as parsed, and verify the one against the other. */
export const graphqlBuiltins: BuiltinTable = {
  'graphql.is_valid': isValid,
  'graphql.parse': parse,
  'graphql.parse_and_verify': parseAndVerify,
  'graphql.parse_query': parseQuery,
  'graphql.parse_schema': parseSchema,
  'graphql.schema_is_valid': isValidSchema,
}

function parseQuery(args: Args): RegoValue {
  return printQuery(parseDocument(stringOperand(args, 0), 'query'))
}

function parseSchema(args: Args): RegoValue {
  return printSchema(parseDocument(stringOperand(args, 0), 'schema'))
}

function isValid(args: Args): RegoValue {
  return verdictOf(() => verify(args))
}

function isValidSchema(args: Args): RegoValue {
  return verdictOf(() => validateSchema(schemaOperand(args, 0)))
}

function parse(args: Args): RegoArray {
  const { query, schema } = verify(args)
  return [printQuery(query), printSchema(schema)]
}

function parseAndVerify(args: Args): RegoValue {
  try {
    return [true, ...parse(args)]
  } catch (raw) {
    if (!(raw instanceof BuiltinError)) throw raw
    return [false, new RegoObject([]), new RegoObject([])]
  }
}

interface Verified {
  readonly query: DocumentNode
  readonly schema: DocumentNode
}

function verify(args: Args): Verified {
  const query = queryOperand(args)
  const schema = schemaOperand(args, 1)
  validateQuery(query, schema)
  return { query, schema }
}

function queryOperand(args: Args): DocumentNode {
  const value = textOrTree(args, 0)
  return typeof value === 'string' ? parseDocument(value, 'query') : readQuery(value)
}

function schemaOperand(args: Args, index: number): DocumentNode {
  const value = textOrTree(args, index)
  return typeof value === 'string' ? parseDocument(value, 'schema') : readSchema(value)
}

function textOrTree(args: Args, index: number): string | RegoObject {
  const value = operand(args, index)
  if (typeof value === 'string') return value
  // OPA counts the operands of these from 0.
  if (!(value instanceof RegoObject)) return wrongType(index - 1, value, 'string', 'object')
  ensureReadable(value)
  return value
}

function verdictOf(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch (raw) {
    if (raw instanceof BuiltinError) return false
    throw raw
  }
}
