import { isWellFormed } from '../scan/locate-value.js'

/** A value that is JSON text already and goes into a larger document as it is, so that its numbers keep all their digits. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** What everything else that writes JSON makes of it. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** `JSON.stringify` for documents that may hold `JsonText` at any depth. */
export function printWithJsonText(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) {
    return `[${value.map((entry: unknown) => printWithJsonText(entry ?? null)).join(',')}]`
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${printWithJsonText(member)}`).join(',')}}`
}

/** A member with kept JSON as its value; where it was cut, or is no JSON any more, a `…Prefix` that quotes it as text. */
export function jsonOrPrefix(name: string, bytes: Uint8Array, isCut: boolean): object {
  // Streaming: a character cut in two at the end is left out instead of shown as U+FFFD.
  const text = new TextDecoder().decode(bytes, { stream: true })
  return !isCut && isWellFormed(bytes) ? { [name]: new JsonText(text) } : { [`${name}Prefix`]: text }
}
