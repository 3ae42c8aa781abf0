import { isWellFormed } from '../scan/locate-value.js'

/**
 * JSON text that becomes part of a larger document unchanged, so that its numbers keep all digits.
 */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The value for other JSON writers. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** As `JSON.stringify`, for documents with `JsonText` at any depth. */
export function printWithJsonText(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) {
    return `[${value.map((entry: unknown) => printWithJsonText(entry ?? null)).join(',')}]`
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${printWithJsonText(member)}`).join(',')}}`
}

/**
 * A member with stored JSON as its value. If the JSON was truncated or is malformed, a member
 * `…Prefix` quotes it as a string.
 */
export function jsonOrPrefix(name: string, bytes: Uint8Array, isCut: boolean): object {
  // Streaming mode omits a truncated character at the end instead of writing U+FFFD.
  const text = new TextDecoder().decode(bytes, { stream: true })
  return !isCut && isWellFormed(bytes) ? { [name]: new JsonText(text) } : { [`${name}Prefix`]: text }
}
