import { AppError } from '../../../errors/app-error.js'

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

/** A JSON syntax error and its offset. */
export class JsonSyntaxError extends AppError {
  /** Offset of the wrong byte, or the length of the text if it ended too early. */
  readonly at: number

  constructor(message: string, at: number) {
    super('invalid', message)
    this.at = at
  }
}

/**
 * Returns the `invalid` error for a wrong byte with the message of Go's encoding/json: `invalid
 * character 'x' <context>`, or `unexpected EOF` at the end of the text.
 */
export function syntaxError(bytes: Uint8Array, at: number, context: string): JsonSyntaxError {
  const byte = bytes[at]
  if (byte === undefined) return new JsonSyntaxError('unexpected EOF', at)
  return new JsonSyntaxError(`invalid character '${quoteByte(byte)}' ${context}`, at)
}

/** Quotes a byte as a Latin-1 character in the form of Go's `strconv.Quote`. */
function quoteByte(byte: number): string {
  const short = SINGLE_LETTER_ESCAPES[byte]
  if (short !== undefined) return short
  if (byte < 0x20 || byte === 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`
  const unprintable = (byte > 0x7f && byte <= 0xa0) || byte === 0xad
  return unprintable ? `\\u00${byte.toString(16)}` : String.fromCharCode(byte)
}
