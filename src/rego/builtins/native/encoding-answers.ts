import { BigDecimal } from '../../values/number-text.js'
import { RegoNumber } from '../../values/value.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import type { Base64Variant } from '../encoding/go-base64.js'
import { decodeUtf8 } from '../encoding/go-utf8.js'
import { isJsonDocument, readJsonDocument } from '../encoding/json-document.js'
import { printGoJson } from '../../values/print-go-json.js'
import { BuiltinError, passes } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand, stringOperand } from '../shared/operands.js'
import { raiseType } from './operand-checks.js'

/** The numbers that to_number returns for other values. */
const NUMBERS = new Map<unknown, string>([
  [null, '0'],
  [false, '0'],
  [true, '1'],
])

/** Parses like Go's ParseFloat. `Inf` and `NaN` are not Rego numbers. */
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

/** Padding is optional. */
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

/** Go escapes <, >, & and the two Unicode line separators; the module does not. */
const marshal: Builtin = (args) => printGoJson(operand(args, 0))

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

const DECIMAL = /^(?<sign>[+-]?)(?<number>(?:[\d_]+\.?[\d_]*|\.[\d_]+)(?:e[+-]?[\d_]+)?)$/i
const HEXADECIMAL = /^(?<sign>[+-]?)0x(?<whole>[\da-f_]*)\.?(?<fraction>[\da-f_]*)p(?<exponent>[+-]?[\d_]+)$/i
/** Go permits an underscore between two digits; the `x` of a base prefix counts as a digit. */
const STRAY_UNDERSCORE = /^_|_$|[^\da-fx]_|_[^\da-f]/i
const BITS_PER_DIGIT = 4
const BEYOND_DOUBLE = '1e999'
/** Notation that is the same in JSON. */
const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/

/**
 * Parses a text like Go's `strconv.ParseFloat`, including underscores and hexadecimal floats, and
 * returns it as JSON; undefined if it is invalid or exceeds a double.
 */
function goFloatText(text: string): string | undefined {
  if (PLAIN_DECIMAL.test(text)) return text
  const number = numberText(text)
  return number !== undefined && Number.isFinite(Number(number)) ? number : undefined
}

/** Returns true for a number that exceeds a double. */
function isBeyondDouble(text: string): boolean {
  return !Number.isFinite(Number(numberText(text) ?? '0'))
}

/** Returns a number of any size in decimal digits. */
function numberText(text: string): string | undefined {
  const unsigned = text.replace(/^[+-]/, '')
  return STRAY_UNDERSCORE.test(unsigned) ? undefined : (decimalText(text) ?? hexadecimalText(text))
}

function decimalText(text: string): string | undefined {
  const groups = DECIMAL.exec(text)?.groups
  if (groups === undefined) return undefined
  const { sign = '', number = '' } = groups
  // The exponent keeps its letter, as in OPA.
  const [mantissa = '', letter = '', exponent = ''] = number.replaceAll('_', '').split(/(e)/i)
  const [whole = '', fraction = ''] = mantissa.split('.')
  if (whole === '' && fraction === '') return undefined
  const digits = `${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`
  return `${sign === '-' ? '-' : ''}${digits}${letter}${exponent}`
}

function hexadecimalText(text: string): string | undefined {
  const groups = HEXADECIMAL.exec(text)?.groups
  if (groups === undefined) return undefined
  const [whole = '', fraction = '', exponent = ''] = ['whole', 'fraction', 'exponent'].map((name) =>
    (groups[name] ?? '').replaceAll('_', ''),
  )
  // A double has 53 bits; longer texts are not useful.
  if (whole + fraction === '' || (whole + fraction).length > 100 || exponent.length > 6) return undefined
  const shift = Number(exponent) - fraction.length * BITS_PER_DIGIT
  const value = new BigDecimal(2).pow(shift).times(BigInt(`0x${whole}${fraction}`).toString())
  const double = value.toNumber()
  if (!Number.isFinite(double)) return BEYOND_DOUBLE
  return `${groups['sign'] === '-' ? '-' : ''}${new BigDecimal(double).toFixed()}`
}
