import { asBuffer } from '../bytes.js'
import { WordSearch } from '../scanner/word-search.js'
import { BYTE_SIGNS, SECRET_SIGNS } from './secret-signs.js'
import type { SecretSign } from './secret-signs.js'

const WORDS = new WordSearch(SECRET_SIGNS)
/** `"pwd=x"`; answers are shorter more often than not. */
const LEAST_BYTES = 7
const NONE: readonly number[] = []
/** How far before and after a word is read what is there. */
const CONTEXT_BYTES = 200
/** With more words than this, and one for this many bytes, all are taken for signs unread: reading each costs more than a look at all. */
const READ_WORDS = 64
const BYTES_PER_READ_WORD = 64

const AT_SIGN = 0x40
const SLASH = 0x2f
const BACKSLASH = 0x5c
const COLON = 0x3a
/** What ends the credentials in a URL: `[\s/?#"'<>]`. */
const AFTER_CREDENTIALS = new Set(Buffer.from(' \t\n\r\f\v/?#"\'<>'))

/**
 * Where something may be in a JSON text that is a secret or tells that another is one, in the order of the text: a quick look that may
 * find what is nothing, but never nothing where `findSecrets` finds something.
 */
export function findSigns(json: Uint8Array): readonly number[] {
  if (json.length < LEAST_BYTES) return NONE
  const signs: number[] = []
  let unread = READ_WORDS + json.length / BYTES_PER_READ_WORD
  const note = (sign: SecretSign, at: number): void => {
    if (--unread < 0 || isSign(sign, json, at)) signs.push(at)
  }
  WORDS.find(json, note)
  for (const sign of BYTE_SIGNS) forEachByte(json, sign.word.charCodeAt(0), (at) => note(sign, at))
  findCredentials(json, (at) => signs.push(at))
  return signs.length === 0 ? NONE : signs.sort((a, b) => a - b)
}

/** Whether there can be anything to redact in a JSON text. */
export function mayHoldSecrets(json: Uint8Array): boolean {
  return findSigns(json).length > 0
}

function isSign({ before, after }: SecretSign, json: Uint8Array, at: number): boolean {
  const text = asBuffer(json)
  if (after?.test(text.toString('latin1', at, at + CONTEXT_BYTES)) === false) return false
  return before?.test(text.toString('latin1', Math.max(0, at - CONTEXT_BYTES), at)) !== false
}

/** Each `://…@`, also of nothing: what is before a second `@` belongs to the credentials. */
function findCredentials(json: Uint8Array, found: (at: number) => void): void {
  let searched = 0
  forEachByte(json, AT_SIGN, (end) => {
    let at = end
    while (at > searched && !AFTER_CREDENTIALS.has(json[at - 1] ?? 0)) at--
    if (at > searched && isAfterScheme(json, at)) found(at)
    searched = end
  })
}

/** Whether `://` ends there, with its slashes escaped or not. */
function isAfterScheme(json: Uint8Array, end: number): boolean {
  let at = end
  for (let slashes = 0; slashes < 2; slashes++) {
    if (json[--at] !== SLASH) return false
    if (json[at - 1] === BACKSLASH) at--
  }
  return json[at - 1] === COLON
}

function forEachByte(bytes: Uint8Array, byte: number, visit: (at: number) => void): void {
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) visit(at)
}
