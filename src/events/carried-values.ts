import { AppError } from '../errors/app-error.js'
import { nestedTooDeeply, MAX_NESTING, holdsMoreValues, nestsDeeper } from '../lib/json/scan/nesting.js'

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

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * A value in the context of a stage, which senders write as it is, as a text of JSON or as Base64 of such a text; the value itself
 * where it is no such text, or one nested too deeply.
 */
export function carriedValue(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const text = value.trim()
  const json = BASE64.test(text) ? Buffer.from(text, 'base64').toString() : text
  const carried = nestsDeeper(json, MAX_NESTING) ? undefined : embeddedValue(json)
  return typeof carried === 'object' ? carried : value
}

/** A member that senders write as text or as a number, as text; undefined for anything else and for an empty text. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const LATEST_MS = 8.64e15

/** A time in milliseconds since 1970, written as a number or as its digits; undefined for anything else and for 0. */
export function epochMs(value: unknown): number | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? digitsValue(value) : 0
  return ms > 0 && ms <= LATEST_MS ? Math.floor(ms) : undefined
}

function digitsValue(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : 0
}
