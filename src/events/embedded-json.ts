import { AppError } from '../errors.js'
import { nestedTooDeeply } from '../lib/json/nested-too-deeply.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../lib/json/nesting.js'

const STARTS_LIKE_JSON = /^\s*[[{]/

/** Executions of thousands of stages have fewer; parsed they take some 60 MB, and an operation holds the text as well. */
const MAX_VALUES = 1_000_000

/** Raises `invalid` for a JSON text in which objects and arrays stand deeper than `MAX_NESTING`, or with too many values to be held. */
export function refuseUnbounded(json: string): void {
  if (nestsDeeper(json, MAX_NESTING)) throw nestedTooDeeply()
  if (holdsMoreValues(json, MAX_VALUES)) {
    throw new AppError('invalid', `the body holds more than ${MAX_VALUES} values`)
  }
}

/**
 * A value that senders write either as JSON or as a text of that JSON (`flatten: true`): the text's value where it is an object or
 * an array, else the value itself. Raises `invalid` for a text nested too deeply or with too many values.
 */
export function embeddedValue(value: unknown): unknown {
  if (typeof value !== 'string' || !STARTS_LIKE_JSON.test(value)) return value
  refuseUnbounded(value)
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
