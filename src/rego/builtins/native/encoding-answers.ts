import { RegoNumber } from '../../values/value.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import type { Base64Variant } from '../encoding/go-base64.js'
import { decodeUtf8 } from '../encoding/go-utf8.js'
import { goJsonText } from '../encoding/json-text.js'
import { isJsonDocument, readJsonDocument } from '../encoding/json-document.js'
import { operand, stringOperand } from '../shared/operands.js'
import { goFloatText, isBeyondDouble } from './go-float-text.js'
import { raiseType } from './operand-checks.js'

/** Words for a number of what to_number takes as well. */
const NUMBERS = new Map<unknown, string>([
  [null, '0'],
  [false, '0'],
  [true, '1'],
])

/** Strings as Go's ParseFloat reads them; `Inf` and `NaN` are no numbers of Rego, since OPA 1.x an error. */
const toNumber: Builtin = (args) => {
  const value = operand(args, 0)
  if (typeof value !== 'string')
    return value instanceof RegoNumber ? value : new RegoNumber(NUMBERS.get(value) ?? '0')
  const text = goFloatText(value)
  if (text !== undefined) return new RegoNumber(text)
  if (/^[+-]?(?:inf|infinity|nan)$/i.test(value)) raiseType(0, 'must be a finite number')
  const problem = isBeyondDouble(value) ? 'value out of range' : 'invalid syntax'
  throw new BuiltinError(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: ${problem}`)
}

const decode: Builtin = (args) => decodeText(stringOperand(args, 0), 'standard')

const isBase64: Builtin = (args) => {
  const value = operand(args, 0)
  return typeof value === 'string' && passes(() => decodeGoBase64(value, 'standard'))
}

/** The padding may be left out. */
const decodeUrl: Builtin = (args) => {
  const text = stringOperand(args, 0)
  const bytes = Buffer.byteLength(text)
  if (text.endsWith('=') || bytes % 4 === 0) return decodeText(text, 'url')
  if (bytes % 4 === 1) throw new BuiltinError(`illegal base64url string: ${text}`)
  return decodeText(`${text}${'='.repeat(4 - (bytes % 4))}`, 'url')
}

const readJson: Builtin = (args) => readJsonDocument(Buffer.from(stringOperand(args, 0)), 'decoder')

const isJson: Builtin = (args) => {
  const value = operand(args, 0)
  return typeof value === 'string' && isJsonDocument(Buffer.from(value))
}

/** Go writes <, >, & and the two line separators of Unicode as escapes; the module does not. */
const marshal: Builtin = (args) => goJsonText(operand(args, 0))

export const encodingAnswers: BuiltinTable = {
  'base64.decode': decode,
  'base64.is_valid': isBase64,
  'base64url.decode': decodeUrl,
  'json.is_valid': isJson,
  'json.marshal': marshal,
  'json.unmarshal': readJson,
  to_number: toNumber,
}

function decodeText(text: string, variant: Base64Variant): string {
  return decodeUtf8(decodeGoBase64(text, variant))
}
