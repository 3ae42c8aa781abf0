import type { WorkMeter } from '../../metering/work-meter.js'
import { compareNumberText } from '../../values/number-text.js'
import { printJson } from '../../values/print-text.js'
import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { compilePattern } from '../regex/compile.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { isArray, operand } from '../shared/operands.js'
import { SchemaReferences } from './reference.js'
import { validate } from './validate.js'

/** Steps and bytes of reporting one violation. */
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

/** A schema is an object, or a boolean that accepts every document or none. */
function readSchema(value: RegoValue, meter: WorkMeter): ReadSchema {
  const schema = readDocument(value)
  const isBoolean = typeof schema === 'boolean'
  if (!isBoolean && !(schema instanceof RegoObject)) throw new BuiltinError('schema is invalid')
  const references = new SchemaReferences(isBoolean ? new RegoObject([]) : schema, meter)
  checkSchema(schema, references, meter)
  return { schema, references }
}

/** A document is an object or array, or a JSON text. Sets become arrays. */
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

/** Cost in evaluation steps per schema. */
const SCHEMA_STEPS = 300

type Check = (value: RegoValue, key: string, references: SchemaReferences, meter: WorkMeter) => void

const TYPES = ['array', 'boolean', 'integer', 'number', 'null', 'object', 'string']

/** The keywords in gojsonschema's order, which determines the reported error. */
const CHECKS: readonly (readonly [key: string, check: Check])[] = [
  [
    'definitions',
    (value, key, references, meter) =>
      checkMembers(value, `Invalid type. Expected: Array Of Schemas, given: ${key}`, references, meter),
  ],
  ['$id', textOf],
  ['title', textOf],
  ['description', textOf],
  ['type', checkType],
  [
    'properties',
    (value, _key, references, meter) =>
      checkMembers(value, 'Properties must be of type object', references, meter),
  ],
  ['additionalProperties', checkAdditional],
  ['patternProperties', checkPatternProperties],
  ['propertyNames', checkSubschema],
  ['dependencies', checkDependencies],
  ['items', checkItems],
  ['additionalItems', checkAdditional],
  ['multipleOf', checkMultiple],
  ['minimum', checkNumber],
  ['exclusiveMinimum', checkExclusive],
  ['maximum', checkNumber],
  ['exclusiveMaximum', checkExclusive],
  ...['minLength', 'maxLength'].map((key) => [key, checkSize] as const),
  ['pattern', checkPattern],
  ['format', textOf],
  ...['minProperties', 'maxProperties'].map((key) => [key, checkSize] as const),
  ['required', checkRequired],
  ...['minItems', 'maxItems'].map((key) => [key, checkSize] as const),
  ['uniqueItems', (value) => typeof value === 'boolean' || fail('uniqueItems must be of a boolean')],
  ['contains', checkSubschema],
  ['enum', checkEnum],
  ...['oneOf', 'anyOf', 'allOf'].map((key) => [key, checkSchemaList] as const),
  ...['not', 'if', 'then', 'else'].map((key) => [key, checkNested] as const),
]

const ORDERED_PAIRS = [
  ['minLength', 'maxLength'],
  ['minProperties', 'maxProperties'],
] as const

/** Throws BuiltinError with gojsonschema's message if the schema or a nested one is malformed. */
function checkSchema(schema: RegoValue, references: SchemaReferences, meter: WorkMeter): void {
  meter.spend(SCHEMA_STEPS)
  if (typeof schema === 'boolean') return
  if (!(schema instanceof RegoObject)) return fail('Expected: Valid Schema, given: Invalid JSON')
  const reference = schema.get('$ref')
  if (reference !== undefined) references.resolve(schema, textOf(reference, '$ref'))
  for (const [key, check] of CHECKS) {
    const value = schema.get(key)
    if (value !== undefined) check(value, key, references, meter)
  }
  for (const key of ['Minimum', 'Maximum']) {
    const isFlag = schema.get(`exclusive${key}`) === true && schema.get(key.toLowerCase()) === undefined
    if (isFlag) fail(`exclusive${key} cannot be used without ${key.toLowerCase()}`)
  }
  for (const [low, high] of ORDERED_PAIRS) {
    const [least, most] = [schema.get(low), schema.get(high)]
    const isReversed =
      least instanceof RegoNumber &&
      most instanceof RegoNumber &&
      compareNumberText(least.text, most.text) > 0
    if (isReversed) fail(`${low} cannot be greater than ${high}`)
  }
}

function checkSubschema(
  value: RegoValue,
  _key: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  checkSchema(value, references, meter)
}

function checkNested(value: RegoValue, key: string, references: SchemaReferences, meter: WorkMeter): void {
  if (typeof value !== 'boolean' && !(value instanceof RegoObject)) fail(`${key} must be of an object`)
  checkSchema(value, references, meter)
}

function checkMembers(
  value: RegoValue,
  problem: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  if (!(value instanceof RegoObject)) return fail(problem)
  for (const [, member] of value.entries) checkSchema(member, references, meter)
}

function checkType(value: RegoValue): void {
  const types = isArray(value) ? value : [value]
  for (const type of types) {
    if (typeof type !== 'string') fail('Invalid type. Expected: type, given: string/Array Of Strings')
    else if (!TYPES.includes(type)) {
      fail(
        `has a primitive type that is NOT VALID -- given: /${type}/ Expected valid values are:[${TYPES.join(' ')}]`,
      )
    }
  }
}

function checkAdditional(
  value: RegoValue,
  key: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  const isSchema = typeof value === 'boolean' || value instanceof RegoObject
  if (!isSchema) fail(`Invalid type. Expected: boolean/Valid Schema, given: ${key}`)
  checkSchema(value, references, meter)
}

function checkPatternProperties(
  value: RegoValue,
  key: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  if (!(value instanceof RegoObject)) return fail(`Invalid type. Expected: Valid Schema, given: ${key}`)
  for (const [pattern, schema] of value.entries) {
    const text = textOf(pattern, key)
    if (!passes(() => compilePattern(text, meter))) fail(`Invalid regex pattern '${text}'`)
    checkSchema(schema, references, meter)
  }
}

function checkPattern(value: RegoValue, key: string, _references: SchemaReferences, meter: WorkMeter): void {
  const text = textOf(value, key)
  if (!passes(() => compilePattern(text, meter))) fail(`${key} must be a valid regex`)
}

function checkDependencies(
  value: RegoValue,
  key: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  if (!(value instanceof RegoObject)) return fail(`${key} must be of type object`)
  for (const [, dependency] of value.entries) {
    if (!isArray(dependency)) checkSchema(dependency, references, meter)
  }
}

function checkItems(value: RegoValue, key: string, references: SchemaReferences, meter: WorkMeter): void {
  if (isArray(value)) for (const schema of value) checkSchema(schema, references, meter)
  else if (value instanceof RegoObject || typeof value === 'boolean') checkSchema(value, references, meter)
  else fail(`Invalid type. Expected: Valid Schema/Array Of Schemas, given: ${key}`)
}

function checkMultiple(value: RegoValue, key: string): void {
  checkNumber(value, key)
  if (value instanceof RegoNumber && value.toNumber() <= 0) fail(`${key} must be strictly greater than 0`)
}

function checkNumber(value: RegoValue, key: string): void {
  if (!(value instanceof RegoNumber)) fail(`${key} must be of a Number`)
}

function checkExclusive(value: RegoValue, key: string): void {
  const isFit = typeof value === 'boolean' || value instanceof RegoNumber
  if (!isFit) fail(`Invalid type. Expected: boolean/number, given: ${key}`)
}

function checkSize(value: RegoValue, key: string): void {
  const size = value instanceof RegoNumber ? value.toBigInt() : undefined
  if (size === undefined) fail(`${key} must be of an integer`)
  else if (size < 0n) fail(`${key} must be greater than or equal to 0`)
}

function checkRequired(value: RegoValue, key: string): void {
  if (!isArray(value)) return fail(`${key} must be of an array`)
  for (const name of value) textOf(name, key)
  checkDistinct(value, key)
}

function checkEnum(value: RegoValue, key: string): void {
  if (!isArray(value)) return fail(`${key} must be of an array`)
  checkDistinct(value, key)
}

function checkDistinct(values: readonly RegoValue[], key: string): void {
  if (new RegoSet(values).members.length < values.length) fail(`${key} items must be unique`)
}

function checkSchemaList(
  value: RegoValue,
  key: string,
  references: SchemaReferences,
  meter: WorkMeter,
): void {
  if (!isArray(value)) return fail(`${key} must be of an array`)
  for (const schema of value) checkSchema(schema, references, meter)
}

function textOf(value: RegoValue, key: string): string {
  return typeof value === 'string' ? value : fail(`Invalid type. Expected: string, given: ${key}`)
}

function fail(problem: string): never {
  throw new BuiltinError(problem)
}
