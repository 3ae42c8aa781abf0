import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { quoteGoString } from './quote.js'

/** Formats a value like OPA in `sprintf` and errors: `{"a": {1, 2}}`, `[1, null]`, `set()`. */
export function displayText(value: RegoValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return quoteGoString(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoSet) {
    return value.members.length === 0 ? 'set()' : `{${value.members.map(displayText).join(', ')}}`
  }
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([key, item]) => `${displayText(key)}: ${displayText(item)}`).join(', ')}}`
  }
  return `[${value.map(displayText).join(', ')}]`
}
