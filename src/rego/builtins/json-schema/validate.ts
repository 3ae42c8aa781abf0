import ipaddr from 'ipaddr.js'

import { ownMember } from '../../../lib/own-member.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { equalValues, RegoNumber, RegoObject, typeName } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { printGoJson } from '../../values/print-go-json.js'
import { compilePattern } from '../regex/compile.js'
import { isMatch } from '../regex/find-matches.js'
import { passes } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'
import {
  validateAlternatives,
  validateArraySize,
  validateNumber,
  validateObjectSize,
  validateText,
} from './limits.js'
import { Outcome, textOf } from './outcome.js'
import type { ApplySchema } from './outcome.js'
import type { SchemaReferences } from './reference.js'

/** Steps of applying a schema, which references multiply, and per reported violation. */
const SCHEMA_STEPS = 400
const VIOLATION_STEPS = 2
/** Cost in evaluation steps of matching a pattern against a name. */
const PATTERN_STEPS = 100
/** Cost in evaluation steps per character of a text whose format is checked. */
const FORMAT_STEPS = 8
/** Limits schemas that refer to themselves for the same value. */
const MAX_DEPTH = 500

/** Validates a document against a schema that passed `checkSchema`. */
export function validate(
  document: RegoValue,
  schema: RegoObject | boolean,
  references: SchemaReferences,
  meter: WorkMeter,
): Outcome {
  return new Validator(references, meter).apply(schema, document, '(Root)')
}

class Validator {
  readonly #references: SchemaReferences
  readonly #meter: WorkMeter
  #depth = 0

  constructor(references: SchemaReferences, meter: WorkMeter) {
    this.#references = references
    this.#meter = meter
  }

  readonly apply: ApplySchema = (schema, value, field) => {
    this.#meter.spend(SCHEMA_STEPS)
    if (this.#depth >= MAX_DEPTH) this.#meter.exceed(`schemas are nested more than ${MAX_DEPTH} levels deep`)
    this.#depth++
    const outcome = this.#applyOnce(schema, value, field)
    this.#depth--
    this.#meter.spend(outcome.violations.length * VIOLATION_STEPS)
    return outcome
  }

  #applyOnce(schema: RegoValue, value: RegoValue, field: string): Outcome {
    const outcome = new Outcome()
    if (schema === false) outcome.add(field, 'false', 'False always fails validation')
    if (!(schema instanceof RegoObject)) return outcome
    const reference = schema.get('$ref')
    if (typeof reference === 'string')
      return this.apply(this.#references.resolve(schema, reference), value, field)
    this.#applyKeywords(schema, value, field, outcome)
    outcome.score++
    return outcome
  }

  #applyKeywords(schema: RegoObject, value: RegoValue, field: string, outcome: Outcome): void {
    if (!checkType(schema, value, field, outcome)) return
    validateAlternatives(schema, value, { field, outcome, apply: this.apply })
    if (value instanceof RegoObject) this.#applyToObject(schema, value, field, outcome)
    if (isArray(value)) this.#applyToItems(schema, value, field, outcome)
    if (value instanceof RegoNumber) validateNumber(schema, value, field, outcome, this.#meter)
    validateCommon(schema, value, field, outcome, this.#meter)
    if (typeof value === 'string') validateText(schema, value, field, outcome, this.#meter)
    if (value instanceof RegoObject) this.#applyToProperties(schema, value, field, outcome)
  }

  #applyToObject(schema: RegoObject, value: RegoObject, field: string, outcome: Outcome): void {
    validateObjectSize(schema, value, field, outcome)
    const names = schema.get('propertyNames')
    if (names !== undefined) this.#applyToNames(names, value, field, outcome)
    for (const [key, member] of value.entries) {
      const name = textOf(key)
      const matched = this.#applyPatterns(schema, name, member, field, outcome)
      if (matched || memberOf(schema, 'properties', name) !== undefined) continue
      const additional = schema.get('additionalProperties')
      if (additional === false) {
        outcome.add(field, 'additional_property_not_allowed', `Additional property ${name} is not allowed`)
      } else if (additional !== undefined) outcome.merge(this.apply(additional, member, join(field, name)))
    }
    outcome.score++
  }

  #applyToNames(schema: RegoValue, value: RegoObject, field: string, outcome: Outcome): void {
    for (const [key] of value.entries) {
      const result = this.apply(schema, key, field)
      if (result.isValid) continue
      outcome.add(field, 'invalid_property_name', `Property name of "${textOf(key)}" does not match`)
      outcome.merge(result)
    }
  }

  #applyPatterns(
    schema: RegoObject,
    name: string,
    member: RegoValue,
    field: string,
    outcome: Outcome,
  ): boolean {
    const patterns = schema.get('patternProperties')
    if (!(patterns instanceof RegoObject)) return false
    let matched = false
    for (const [pattern, patternSchema] of patterns.entries) {
      this.#meter.spend(PATTERN_STEPS)
      if (!isMatch(compilePattern(textOf(pattern), this.#meter), name, this.#meter)) continue
      matched = true
      outcome.merge(this.apply(patternSchema, member, join(field, name)))
    }
    return matched
  }

  #applyToProperties(schema: RegoObject, value: RegoObject, field: string, outcome: Outcome): void {
    const properties = schema.get('properties')
    if (!(properties instanceof RegoObject)) return
    for (const [key, propertySchema] of properties.entries) {
      const member = value.get(key)
      if (member !== undefined) outcome.merge(this.apply(propertySchema, member, join(field, textOf(key))))
    }
  }

  #applyToItems(schema: RegoObject, value: RegoArray, field: string, outcome: Outcome): void {
    const items = schema.get('items')
    const positional = items !== undefined && isArray(items) ? items : undefined
    for (const [i, item] of value.entries()) {
      const itemSchema = positional === undefined ? items : positional[i]
      if (itemSchema !== undefined) outcome.merge(this.apply(itemSchema, item, join(field, String(i))))
    }
    if (positional !== undefined)
      this.#applyToAdditionalItems(schema, value, positional.length, field, outcome)
    validateArraySize(schema, value, field, outcome)
    const contained = schema.get('contains')
    if (contained !== undefined) this.#applyContains(contained, value, field, outcome)
    outcome.score++
  }

  #applyToAdditionalItems(
    schema: RegoObject,
    value: RegoArray,
    from: number,
    field: string,
    outcome: Outcome,
  ): void {
    const additional = schema.get('additionalItems')
    if (additional === undefined) return
    if (additional === false) {
      if (value.length > from) {
        outcome.add(field, 'array_no_additional_items', 'No additional items allowed on array')
      }
      return
    }
    for (const [i, item] of value.slice(from).entries()) {
      outcome.merge(this.apply(additional, item, join(field, String(from + i))))
    }
  }

  #applyContains(schema: RegoValue, value: RegoArray, field: string, outcome: Outcome): void {
    let best: Outcome | undefined
    for (const [i, item] of value.entries()) {
      const result = this.apply(schema, item, join(field, String(i)))
      if (result.isValid) return
      if (best === undefined || result.score > best.score) best = result
    }
    outcome.add(field, 'contains', 'At least one of the items must match')
    if (best !== undefined) outcome.merge(best)
  }
}

function checkType(schema: RegoObject, value: RegoValue, field: string, outcome: Outcome): boolean {
  const wanted = schema.get('type')
  if (wanted === undefined) return true
  const types: RegoArray = isArray(wanted) ? wanted : [wanted]
  const given = value instanceof RegoNumber && value.toBigInt() !== undefined ? 'integer' : typeName(value)
  if (types.includes(given) || (given === 'integer' && types.includes('number'))) return true
  const expected = types.length === 1 ? textOf(types[0]) : `[${types.map(textOf).join(',')}]`
  outcome.add(field, 'invalid_type', `Invalid type. Expected: ${expected}, given: ${given}`)
  return false
}

function validateCommon(
  schema: RegoObject,
  value: RegoValue,
  field: string,
  outcome: Outcome,
  meter: WorkMeter,
): void {
  const constant = schema.get('const')
  if (constant !== undefined && !equalValues(constant, value)) {
    outcome.add(field, 'const', `${field} does not match: ${textsOf([constant], meter)}`)
  }
  const allowed = schema.get('enum')
  if (allowed !== undefined && isArray(allowed)) {
    meter.spend(allowed.length * PATTERN_STEPS)
    const isAllowed = allowed.some((one) => equalValues(one, value))
    if (!isAllowed)
      outcome.add(field, 'enum', `${field} must be one of the following: ${textsOf(allowed, meter)}`)
  }
  const format = schema.get('format')
  if (typeof format !== 'string' || typeof value !== 'string') {
    outcome.score++
    return
  }
  meter.spend(value.length * FORMAT_STEPS)
  if (!hasFormat(format, value, meter)) {
    outcome.add(field, 'format', `Does not match format '${format}'`)
  }
  outcome.score++
}

/** Formats the values of a violation, which may repeat for each checked value. */
function textsOf(values: RegoArray, meter: WorkMeter): string {
  const texts = values.map(printGoJson).join(', ')
  meter.spend(texts.length * FORMAT_STEPS)
  meter.reserve(texts.length)
  return texts
}

function memberOf(schema: RegoObject, keyword: string, name: string): RegoValue | undefined {
  const members = schema.get(keyword)
  return members instanceof RegoObject ? members.get(name) : undefined
}

function join(field: string, step: string): string {
  return field === '(Root)' ? step : `${field}.${step}`
}

const HOSTNAME =
  /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*$/
const DATE = /^\d{4}-(\d{2})-(\d{2})$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/
const ZONED_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})$/

const FORMATS: Readonly<Record<string, (text: string, meter: WorkMeter) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  'date-time': (text) => text[10] === 'T' && isDate(text.slice(0, 10)) && ZONED_TIME.test(text.slice(11)),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  'idn-email': (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => ipaddr.IPv4.isValidFourPartDecimal(text),
  ipv6: (text) => text.includes(':') && ipaddr.IPv6.isValid(text),
  uri: isUri,
  iri: isUri,
  uuid: (text) => /^[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/i.test(text),
  regex: (text, meter) => passes(() => compilePattern(text, meter)),
  'json-pointer': (text) => text === '' || /^(?:\/(?:[^~/]|~[01])*)+$/.test(text),
}

/** Returns true if a text conforms to `format`. Unknown formats accept any text. */
function hasFormat(format: string, text: string, meter: WorkMeter): boolean {
  const check = ownMember(FORMATS, format)
  return check === undefined || check(text, meter)
}

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  return match !== null && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(match[2])
}

function isUri(text: string): boolean {
  return !text.includes('\\') && URL.canParse(text)
}
