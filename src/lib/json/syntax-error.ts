import { AppError } from '../../errors.js'

const SINGLE_LETTER_ESCAPES: Readonly<Record<number, string>> = {
  0x07: '\\a',
  0x08: '\\b',
  0x09: '\\t',
  0x0a: '\\n',
  0x0b: '\\v',
  0x0c: '\\f',
  0x0d: '\\r',
  0x27: "\\'",
  0x5c: '\\\\',
}

/**
 * The error for the byte that breaks a JSON text, in the words of Go's encoding/json: `invalid character 'x' <context>`,
 * or `unexpected EOF` when the text ended there. It is an `invalid` AppError.
 */
export function syntaxError(bytes: Uint8Array, at: number, context: string): AppError {
  const byte = bytes[at]
  if (byte === undefined) return new AppError('invalid', 'unexpected EOF')
  return new AppError('invalid', `invalid character '${quoteByte(byte)}' ${context}`)
}

/** Go reads the one byte as a Latin-1 character and quotes it as `strconv.Quote` does. */
function quoteByte(byte: number): string {
  const short = SINGLE_LETTER_ESCAPES[byte]
  if (short !== undefined) return short
  if (byte < 0x20 || byte === 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`
  const unprintable = (byte > 0x7f && byte <= 0xa0) || byte === 0xad
  return unprintable ? `\\u00${byte.toString(16)}` : String.fromCharCode(byte)
}
