import { RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { isArray } from '../shared/operands.js'
import type { ApplySchema, Outcome } from './outcome.js'
import { textOf } from './outcome.js'

/** The field that is looked at, what has been found of it, and how to apply another schema to it. */
interface Place {
  readonly field: string
  readonly outcome: Outcome
  readonly apply: ApplySchema
}

/** The keywords that combine schemas: anyOf, oneOf, allOf, not, dependencies, if. */
export function validateAlternatives(schema: RegoObject, value: RegoValue, place: Place): void {
  const { field, outcome, apply } = place
  const run = (keyword: string): Outcome[] | undefined =>
    listOf(schema, keyword)?.map((one) => apply(one, value, field))
  checkAnyOf(run('anyOf'), field, outcome)
  checkOneOf(run('oneOf'), field, outcome)
  checkAllOf(run('allOf'), field, outcome)
  const negated = schema.get('not')
  if (negated !== undefined && apply(negated, value, field).isValid) {
    outcome.add(field, 'number_not', 'Must not validate the schema (not)')
  }
  if (value instanceof RegoObject) checkDependencies(schema, value, place)
  checkCondition(schema, value, place)
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

/** The first of those with the highest score. */
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

function checkDependencies(schema: RegoObject, value: RegoObject, { field, outcome, apply }: Place): void {
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

function checkCondition(schema: RegoObject, value: RegoValue, { field, outcome, apply }: Place): void {
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
