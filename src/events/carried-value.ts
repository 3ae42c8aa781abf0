import { MAX_NESTING, nestsDeeper } from '../lib/json/nesting.js'
import { embeddedValue } from './embedded-json.js'

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
