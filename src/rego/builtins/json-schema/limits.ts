import type { WorkMeter } from '../../metering/work-meter.js'
import { BigDecimal, compareNumberText } from '../../values/number-text.js'
import { compareValues, equalValues, RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { codePointCount } from '../go-format/flags.js'
import { formatGoDecimal } from '../go-format/float.js'
import { compilePattern } from '../regex/compile.js'
import { isMatch } from '../regex/find-matches.js'
import { isArray } from '../shared/operands.js'
import { textOf } from './outcome.js'
import type { ApplySchema, Outcome } from './outcome.js'

/** Checks multipleOf and the bounds of a number in the forms of drafts 4 and 6. */
export function validateNumber(
  schema: RegoObject,
  value: RegoNumber,
  field: string,
  outcome: Outcome,
  meter: WorkMeter,
): void {
  const divisor = numberOf(schema, 'multipleOf')
  if (divisor !== undefined && !isMultiple(value, divisor, meter)) {
    outcome.add(field, 'multiple_of', `Must be a multiple of ${formatGoDecimal(divisor.text)}`)
  }
  checkBound(schema, 'Maximum', value, field, outcome)
  checkBound(schema, 'Minimum', value, field, outcome)
  outcome.score++
}

/**
 * The cost of a remainder is quadratic in the distance of the highest digit of one number and the
 * lowest of the other: 2 s for 1e1000000.
 */
function isMultiple(value: RegoNumber, divisor: RegoNumber, meter: WorkMeter): boolean {
  const [number, of] = [new BigDecimal(value.text), new BigDecimal(divisor.text)]
  const places = number.precision() + of.precision() + Math.abs(number.e - of.e)
  meter.spend(places * 20 + places * places * 2.5e-4)
  return number.mod(of).isZero()
}

function checkBound(
  schema: RegoObject,
  side: 'Minimum' | 'Maximum',
  value: RegoNumber,
  field: string,
  outcome: Outcome,
): void {
  const isMaximum = side === 'Maximum'
  const [word, type] = isMaximum ? ['less', 'number_lt'] : ['greater', 'number_gt']
  const exclusive = schema.get(`exclusive${side}`)
  const bound = numberOf(schema, side.toLowerCase())
  const beyond = (limit: RegoNumber): number =>
    (isMaximum ? 1 : -1) * compareNumberText(value.text, limit.text)
  if (bound !== undefined && exclusive !== true && beyond(bound) > 0) {
    outcome.add(field, `${type}e`, `Must be ${word} than or equal to ${formatGoDecimal(bound.text)}`)
  }
  const exclusiveBound = exclusive === true ? bound : exclusive
  if (exclusiveBound instanceof RegoNumber && beyond(exclusiveBound) >= 0) {
    outcome.add(field, type, `Must be ${word} than ${formatGoDecimal(exclusiveBound.text)}`)
  }
}

/** Checks the length of a string in code points, and its pattern. */
export function validateText(
  schema: RegoObject,
  value: string,
  field: string,
  outcome: Outcome,
  meter: WorkMeter,
): void {
  const length = codePointCount(value)
  const [least, most] = [sizeOf(schema, 'minLength'), sizeOf(schema, 'maxLength')]
  if (length < least)
    outcome.add(field, 'string_gte', `String length must be greater than or equal to ${least}`)
  if (length > most) outcome.add(field, 'string_lte', `String length must be less than or equal to ${most}`)
  const pattern = schema.get('pattern')
  if (typeof pattern === 'string' && !isMatch(compilePattern(pattern, meter), value, meter))
    outcome.add(field, 'pattern', `Does not match pattern '${pattern}'`)
  outcome.score++
}

/** Checks minItems, maxItems and uniqueItems. */
export function validateArraySize(
  schema: RegoObject,
  value: RegoArray,
  field: string,
  outcome: Outcome,
): void {
  const [least, most] = [sizeOf(schema, 'minItems'), sizeOf(schema, 'maxItems')]
  if (value.length < least) outcome.add(field, 'array_min_items', `Array must have at least ${least} items`)
  if (value.length > most) outcome.add(field, 'array_max_items', `Array must have at most ${most} items`)
  if (schema.get('uniqueItems') === true) checkUnique(value, field, outcome)
}

function checkUnique(value: RegoArray, field: string, outcome: Outcome): void {
  const places = value.map((item, i) => [item, i] as const).sort(([a], [b]) => compareValues(a, b))
  const repeats: (readonly [earlier: number, later: number])[] = []
  for (const [at, [item, i]] of places.entries()) {
    const before = places[at - 1]
    if (before !== undefined && equalValues(before[0], item)) repeats.push([before[1], i])
  }
  for (const [earlier, later] of repeats.sort((a, b) => a[1] - b[1])) {
    outcome.add(field, 'unique', `array items[${earlier},${later}] must be unique`)
  }
}

/** Checks required, minProperties and maxProperties. */
export function validateObjectSize(
  schema: RegoObject,
  value: RegoObject,
  field: string,
  outcome: Outcome,
): void {
  const required = schema.get('required')
  for (const name of required !== undefined && isArray(required) ? required : []) {
    const isMissing = value.get(name) === undefined
    if (isMissing) outcome.add(field, 'required', `${textOf(name)} is required`)
  }
  const count = value.entries.length
  const [least, most] = [sizeOf(schema, 'minProperties'), sizeOf(schema, 'maxProperties')]
  if (count < least) outcome.add(field, 'array_min_properties', `Must have at least ${least} properties`)
  if (count > most) outcome.add(field, 'array_max_properties', `Must have at most ${most} properties`)
}

/** Returns a size limit, or a default that every size satisfies. */
function sizeOf(schema: RegoObject, keyword: string): number {
  const value: RegoValue | undefined = schema.get(keyword)
  if (value instanceof RegoNumber) return value.toNumber()
  return keyword.startsWith('max') ? Infinity : 0
}

function numberOf(schema: RegoObject, keyword: string): RegoNumber | undefined {
  const value = schema.get(keyword)
  return value instanceof RegoNumber ? value : undefined
}

/** The current field, its outcome so far, and a function that applies another schema to it. */
interface FieldScope {
  readonly field: string
  readonly outcome: Outcome
  readonly apply: ApplySchema
}

/** Checks the keywords that combine schemas: anyOf, oneOf, allOf, not, dependencies, if. */
export function validateAlternatives(schema: RegoObject, value: RegoValue, scope: FieldScope): void {
  const { field, outcome, apply } = scope
  const run = (keyword: string): Outcome[] | undefined =>
    listOf(schema, keyword)?.map((one) => apply(one, value, field))
  checkAnyOf(run('anyOf'), field, outcome)
  checkOneOf(run('oneOf'), field, outcome)
  checkAllOf(run('allOf'), field, outcome)
  const negated = schema.get('not')
  if (negated !== undefined && apply(negated, value, field).isValid) {
    outcome.add(field, 'number_not', 'Must not validate the schema (not)')
  }
  if (value instanceof RegoObject) checkDependencies(schema, value, scope)
  checkCondition(schema, value, scope)
  outcome.score++
}

function listOf(schema: RegoObject, keyword: string): RegoArray | undefined {
  const list = schema.get(keyword)
  return list !== undefined && isArray(list) && list.length > 0 ? list : undefined
}

function checkAnyOf(results: readonly Outcome[] | undefined, field: string, outcome: Outcome): void {
  if (results === undefined || results.some((result) => result.isValid)) return
  outcome.add(field, 'number_any_of', 'Must validate at least one schema (anyOf)')
  outcome.merge(nearest(results))
}

function checkOneOf(results: readonly Outcome[] | undefined, field: string, outcome: Outcome): void {
  if (results === undefined) return
  const valid = results.filter((result) => result.isValid).length
  if (valid === 1) return
  outcome.add(field, 'number_one_of', 'Must validate one and only one schema (oneOf)')
  if (valid === 0) outcome.merge(nearest(results))
}

/** Returns the first outcome with the highest score. */
function nearest(results: readonly Outcome[]): Outcome {
  return results.reduce((best, result) => (result.score > best.score ? result : best))
}

function checkAllOf(results: readonly Outcome[] | undefined, field: string, outcome: Outcome): void {
  if (results === undefined) return
  for (const result of results) outcome.merge(result)
  if (results.some((result) => !result.isValid)) {
    outcome.add(field, 'number_all_of', 'Must validate all the schemas (allOf)')
  }
}

function checkDependencies(
  schema: RegoObject,
  value: RegoObject,
  { field, outcome, apply }: FieldScope,
): void {
  const dependencies = schema.get('dependencies')
  if (!(dependencies instanceof RegoObject)) return
  for (const [key, dependency] of dependencies.entries) {
    if (value.get(key) === undefined) continue
    if (!isArray(dependency)) {
      outcome.merge(apply(dependency, value, field))
      continue
    }
    for (const name of dependency) {
      const isMissing = value.get(name) === undefined
      if (isMissing) outcome.add(field, 'missing_dependency', `Has a dependency on ${textOf(name)}`)
    }
  }
}

function checkCondition(schema: RegoObject, value: RegoValue, { field, outcome, apply }: FieldScope): void {
  const condition = schema.get('if')
  if (condition === undefined) return
  const holds = apply(condition, value, field).isValid
  const branch = schema.get(holds ? 'then' : 'else')
  const result = branch === undefined ? undefined : apply(branch, value, field)
  if (result === undefined || result.isValid) return
  if (holds) outcome.add(field, 'condition_then', 'Must validate "then" as "if" was valid')
  else outcome.add(field, 'condition_else', 'Must validate "else" as "if" was not valid')
  outcome.merge(result)
}
