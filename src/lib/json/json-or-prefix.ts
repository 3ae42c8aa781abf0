import { JsonText } from './json-text.js'
import { refuseMalformed } from './refuse-malformed.js'

/** A member with kept JSON as its value; where it was cut, or is no JSON any more, a `…Prefix` that quotes it as text. */
export function jsonOrPrefix(name: string, bytes: Uint8Array, isCut: boolean): object {
  // Streaming: a character cut in two at the end is left out instead of shown as U+FFFD.
  const text = new TextDecoder().decode(bytes, { stream: true })
  return !isCut && isWellFormed(bytes) ? { [name]: new JsonText(text) } : { [`${name}Prefix`]: text }
}

function isWellFormed(bytes: Uint8Array): boolean {
  try {
    refuseMalformed(bytes)
    return true
  } catch {
    return false
  }
}
