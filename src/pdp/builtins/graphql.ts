import type { RegoValue } from '../rego/value.js'
import type { BuiltinTable } from './builtin.js'
import { parseDocument } from './graphql/parse-document.js'
import { printQuery } from './graphql/print-query.js'
import { printSchema } from './graphql/print-schema.js'
import { stringOperand } from './operands.js'

type Args = readonly RegoValue[]

/** OPA's `graphql.*`: parse queries and schemas, and verify the one against the other. */
export const graphqlBuiltins: BuiltinTable = {
  'graphql.parse_query': parseQuery,
  'graphql.parse_schema': parseSchema,
}

function parseQuery(args: Args): RegoValue {
  return printQuery(parseDocument(stringOperand(args, 0), 'query'))
}

function parseSchema(args: Args): RegoValue {
  return printSchema(parseDocument(stringOperand(args, 0), 'schema'))
}
