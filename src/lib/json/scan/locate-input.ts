import { AppError } from '../../../errors/app-error.js'
import { decodeString } from './decode-string.js'
import type { Extent } from './json-bytes.js'
import { BACKSLASH, OPEN_OBJECT, QUOTE } from './json-bytes.js'
import { refuseMore } from './locate-value.js'
import { scanMembers } from './scan-members.js'
import { scanSpace, scanValue } from './scan-value.js'
import { scanString } from './scan-string.js'

const LOWER_N = 0x6e
const TYPE_NAMES: Readonly<Record<number, string>> = {
  0x5b: 'array',
  0x22: 'string',
  0x74: 'bool',
  0x66: 'bool',
}
const FIELD = Buffer.from('input')
const CASE_BIT = 0x20

/**
 * Returns the extent of `input` in the body of a Data API request: the last top-level member of
 * that name in any letter case, as Go matches field names. Undefined if it is absent or null, and
 * for an empty body or `null`. Bytes after the document are ignored. Throws `invalid` with OPA's
 * `body contains malformed input document: …`.
 *
 * `strictly` deviates from OPA: it rejects a second `input` and bytes after the document, which
 * other parsers may read as a different input.
 */
export function locateInput(body: Uint8Array, strictly = false): Extent | undefined {
  try {
    return locate(body, strictly)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('invalid', `body contains malformed input document: ${error.message}`, {
      cause: error,
    })
  }
}

function locate(body: Uint8Array, strictly: boolean): Extent | undefined {
  const open = scanSpace(body, 0)
  if (open === body.length) return undefined
  if (body[open] !== OPEN_OBJECT) {
    refuseOtherTypes(body, open)
    return undefined
  }
  let start = 0
  let end = 0
  const documentEnd = scanMembers(body, open, (keyStart, valueStart, valueEnd) => {
    if (!isInputKey(body, keyStart)) return
    if (strictly && end > 0) throw new AppError('invalid', 'it has more than one input')
    start = valueStart
    end = valueEnd
  })
  if (strictly) refuseMore(body, documentEnd)
  return end === 0 || body[start] === LOWER_N ? undefined : { start, end }
}

/**
 * Throws for everything but `null`. Go reads the whole document before it checks the type, so a
 * syntax error takes precedence.
 */
function refuseOtherTypes(body: Uint8Array, start: number): void {
  scanValue(body, start)
  const first = body[start] ?? 0
  if (first === LOWER_N) return
  const type = TYPE_NAMES[first] ?? 'number'
  throw new AppError('invalid', `json: cannot unmarshal ${type} into Go value of type types.DataRequestV1`)
}

function isInputKey(body: Uint8Array, keyStart: number): boolean {
  const first = keyStart + 1
  for (let i = 0; i < FIELD.length; i++) {
    const byte = body[first + i] ?? 0
    if (byte === BACKSLASH) return isEscapedInputKey(body, keyStart)
    if ((byte | CASE_BIT) !== FIELD[i]) return false
  }
  return body[first + FIELD.length] === QUOTE
}

function isEscapedInputKey(body: Uint8Array, keyStart: number): boolean {
  const key = decodeString(body, keyStart, scanString(body, keyStart))
  return key.length === FIELD.length && key.every((byte, i) => (byte | CASE_BIT) === FIELD[i])
}
