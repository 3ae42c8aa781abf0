import { RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import { BuiltinError } from './builtin.js'
import type { Builtin, BuiltinTable } from './builtin.js'
import { readJsonDocument } from './encoding/json-document.js'
import { printJson } from '../rego/print-text.js'
import { checkSchema } from './json-schema/check-schema.js'
import { validate } from './json-schema/validate.js'
import { operand } from './operands.js'

const verifySchema: Builtin = (args) => {
  try {
    readSchema(operand(args, 0))
    return [true, null]
  } catch (raw) {
    if (raw instanceof BuiltinError) return [false, `jsonschema: ${raw.message}`]
    throw raw
  }
}

const matchSchema: Builtin = (args) => {
  const document = readDocument(operand(args, 0))
  const { violations, isValid } = validate(document, readSchema(operand(args, 1)))
  const details = violations.map(({ field, type, desc }) =>
    RegoObject.fromRecord({ desc, error: `${field}: ${desc}`, field, type }),
  )
  return [isValid, details]
}

function readSchema(value: RegoValue): RegoObject {
  const schema = readDocument(value)
  if (!(schema instanceof RegoObject)) throw new BuiltinError('schema must be an object')
  checkSchema(schema, schema)
  return schema
}

/** An object, or the JSON text of any value; sets become arrays on the way through JSON. */
function readDocument(value: RegoValue): RegoValue {
  if (typeof value === 'string') return readText(value)
  if (value instanceof RegoObject) return readText(printJson(value))
  throw new BuiltinError('wrong type, expected string or object')
}

function readText(text: string): RegoValue {
  try {
    return readJsonDocument(Buffer.from(text), 'unmarshal')
  } catch {
    throw new BuiltinError('invalid JSON string')
  }
}

export const jsonSchemaBuiltins: BuiltinTable = {
  'json.match_schema': matchSchema,
  'json.verify_schema': verifySchema,
}
