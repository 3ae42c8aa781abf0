import { AppError } from '../../../errors/app-error.js'
import { scanLiteral, scanNumber } from '../../../lib/json/scan/scan-scalar.js'
import { scanSpace, scanValue } from '../../../lib/json/scan/scan-value.js'
import { scanString } from '../../../lib/json/scan/scan-string.js'
import { syntaxError } from '../../../lib/json/scan/syntax-error.js'
import { parseRegoText } from '../../values/parse-text.js'
import { typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { decodeUtf8 } from './go-utf8.js'

const NULL = 'null'

/** Go's function for error messages: json.Unmarshal, or the Decoder of OPA's policy values. */
export type JsonReader = 'decoder' | 'unmarshal'

/**
 * Parses a single JSON value with exact numbers; OPA's decoder also ignores a null after it. Throws
 * BuiltinError with Go's message if it is malformed.
 */
export function readJsonDocument(bytes: Buffer, reader: JsonReader): RegoValue {
  try {
    const end = scanValue(bytes, 0)
    const next = scanSpace(bytes, end)
    if (next < bytes.length && !isPassedOver(bytes, next, reader)) throw trailingError(bytes, next, reader)
    return parseRegoText(decodeUtf8(bytes.subarray(0, end)))
  } catch (raw) {
    if (raw instanceof AppError) throw new BuiltinError(wordsOf(raw.message, reader))
    // The scanner accepts 10,000 levels, like Go. The stack may overflow earlier, which ends the
    // evaluation.
    throw raw
  }
}

/** Returns true if the bytes are a single JSON value. */
export function isJsonDocument(bytes: Uint8Array): boolean {
  try {
    return scanSpace(bytes, scanValue(bytes, 0)) >= bytes.length
  } catch (raw) {
    if (raw instanceof AppError) return false
    throw raw
  }
}

/** Returns Go's error for a JSON value of the wrong type; `target` is its Go type. */
export function cannotUnmarshal(value: RegoValue, target: string): BuiltinError {
  const name = typeName(value)
  return new BuiltinError(`json: cannot unmarshal ${name === 'boolean' ? 'bool' : name} into Go ${target}`)
}

function wordsOf(message: string, reader: JsonReader): string {
  const ended = message === 'EOF' || message === 'unexpected EOF'
  return ended && reader === 'unmarshal' ? 'unexpected end of JSON input' : message
}

/** OPA reads one more token and takes a null for none. Anything after it is ignored. */
function isPassedOver(bytes: Buffer, at: number, reader: JsonReader): boolean {
  return reader === 'decoder' && bytes.toString('latin1', at, at + NULL.length) === NULL
}

/**
 * OPA reads one more token from the decoder: the error names a valid token; an invalid one fails
 * like the start of a value.
 */
function trailingError(bytes: Uint8Array, at: number, reader: JsonReader): AppError {
  if (reader === 'unmarshal') return syntaxError(bytes, at, 'after top-level value')
  const token = Buffer.from(bytes.subarray(at, tokenEnd(bytes, at))).toString('utf8')
  return new AppError(
    'invalid',
    `error: invalid character '${token.replaceAll('"', '')}' after top-level value`,
  )
}

function tokenEnd(bytes: Uint8Array, at: number): number {
  const first = String.fromCharCode(bytes[at] ?? 0)
  if (first === '{' || first === '[') return at + 1
  if (first === '"') return scanString(bytes, at)
  return /[-\d]/.test(first) ? scanNumber(bytes, at) : scanLiteral(bytes, at)
}
