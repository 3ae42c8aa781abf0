import { nestedTooDeeply } from '../lib/json/nested-too-deeply.js'
import { MAX_NESTING, nestsDeeper } from '../lib/json/nesting.js'

const STARTS_LIKE_JSON = /^\s*[[{]/

/** Raises `invalid` for a JSON text in which objects and arrays stand deeper than `MAX_NESTING`. */
export function refuseDeepNesting(json: string): void {
  if (nestsDeeper(json, MAX_NESTING)) throw nestedTooDeeply()
}

/**
 * A value that senders write either as JSON or as a text of that JSON (`flatten: true`): the text's value where it is an object or
 * an array, else the value itself. Raises `invalid` for a text nested too deeply.
 */
export function embeddedValue(value: unknown): unknown {
  if (typeof value !== 'string' || !STARTS_LIKE_JSON.test(value)) return value
  refuseDeepNesting(value)
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
