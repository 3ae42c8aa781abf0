import { AppError } from '../errors/app-error.js'
import { nestedTooDeeply, MAX_NESTING, holdsMoreValues, nestsDeeper } from '../lib/json/scan/nesting.js'

const STARTS_LIKE_JSON = /^\s*[[{]/

/**
 * Highest number of values. Executions with thousands of stages have fewer. Parsed, they take about
 * 60 MB, and an operation also holds the text.
 */
const MAX_VALUES = 1_000_000

/** Raises `invalid` for a JSON text nested deeper than `MAX_NESTING` or with too many values. */
export function refuseUnbounded(json: string): void {
  if (nestsDeeper(json, MAX_NESTING)) throw nestedTooDeeply()
  if (holdsMoreValues(json, MAX_VALUES)) {
    throw new AppError('invalid', `the body holds more than ${MAX_VALUES} values`)
  }
}

/**
 * Parses a value that senders write as JSON or as a JSON text (`flatten: true`). Returns the value
 * itself unless it is the text of an object or array. Raises `invalid` for a text that is nested
 * too deeply or has too many values.
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
 * Parses a value in a stage's context, which senders write as JSON, as a JSON text or as its
 * Base64. Returns the value itself for any other text, or one nested too deeply.
 */
export function carriedValue(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const text = value.trim()
  const json = BASE64.test(text) ? Buffer.from(text, 'base64').toString() : text
  const carried = nestsDeeper(json, MAX_NESTING) ? undefined : embeddedValue(json)
  return typeof carried === 'object' ? carried : value
}

/** Returns a text or number as text; undefined for any other value and for an empty text. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const MAX_TIME_MS = 8.64e15

/**
 * Parses epoch milliseconds from a number or its digits; undefined for any other value and for 0.
 */
export function epochMs(value: unknown): number | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? digitsValue(value) : 0
  return ms > 0 && ms <= MAX_TIME_MS ? Math.floor(ms) : undefined
}

function digitsValue(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : 0
}
