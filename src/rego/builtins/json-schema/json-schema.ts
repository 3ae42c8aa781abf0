import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { printJson } from '../../values/print-text.js'
import { checkSchema } from './check-schema.js'
import { SchemaReferences } from './reference.js'
import { validate } from './validate.js'
import { isArray, operand } from '../shared/operands.js'

/** Steps and bytes of telling one violation. */
const VIOLATION_STEPS = 1_000
const VIOLATION_BYTES = 500

const verifySchema: Builtin = (args, { meter }) => {
  try {
    readSchema(operand(args, 0), meter)
    return [true, null]
  } catch (raw) {
    if (raw instanceof BuiltinError) return [false, `jsonschema: ${raw.message}`]
    throw raw
  }
}

const matchSchema: Builtin = (args, { meter }) => {
  const document = readDocument(operand(args, 0))
  const { schema, references } = readSchema(operand(args, 1), meter)
  const { violations, isValid } = validate(document, schema, references, meter)
  meter.spend(violations.length * VIOLATION_STEPS)
  meter.reserve(violations.length * VIOLATION_BYTES)
  const details = violations.map(({ field, type, desc }) =>
    RegoObject.fromRecord({ desc, error: `${field}: ${desc}`, field, type }),
  )
  return [isValid, details]
}

interface ReadSchema {
  readonly schema: RegoObject | boolean
  readonly references: SchemaReferences
}

/** An object, or a boolean, which any document or none passes. */
function readSchema(value: RegoValue, meter: WorkMeter): ReadSchema {
  const schema = readDocument(value)
  const isBoolean = typeof schema === 'boolean'
  if (!isBoolean && !(schema instanceof RegoObject)) throw new BuiltinError('schema is invalid')
  const references = new SchemaReferences(isBoolean ? new RegoObject([]) : schema, meter)
  checkSchema(schema, references, meter)
  return { schema, references }
}

/** An object or an array, or the JSON text of any value; sets become arrays on the way through JSON. */
function readDocument(value: RegoValue): RegoValue {
  if (typeof value === 'string') return readText(value)
  if (value instanceof RegoObject || isArray(value)) return readText(printJson(value))
  throw new BuiltinError('wrong type, expected string or object')
}

function readText(text: string): RegoValue {
  try {
    return readJsonDocument(Buffer.from(text), 'unmarshal')
  } catch (raw) {
    if (raw instanceof BuiltinError) throw new BuiltinError('invalid JSON string')
    throw raw
  }
}

export const jsonSchemaBuiltins: BuiltinTable = {
  'json.match_schema': matchSchema,
  'json.verify_schema': verifySchema,
}
