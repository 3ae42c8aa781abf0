import { RegoNumber, RegoObject } from '../../rego/value.js'
import type { RegoValue } from '../../rego/value.js'
import { BuiltinError } from '../builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { parseCidr, parseIpAddress } from '../net/network.js'
import { compilePattern } from '../regex/compile.js'
import { goFloatText } from './go-float-text.js'
import { raiseType, requireType } from './operand-checks.js'
import type { OperandCheck } from './operand-checks.js'

/** Strings as Go's ParseFloat reads them; `Inf` and `NaN` are no numbers of Rego, since OPA 1.x an error. */
export const numberText: OperandCheck = (value, index) => {
  requireType(value, index, 'null', 'boolean', 'number', 'string')
  if (typeof value !== 'string' || goFloatText(value) !== undefined) return
  if (/^[+-]?(?:inf|infinity|nan)$/i.test(value)) raiseType(index, 'must be a finite number')
  throw new BuiltinError(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: invalid syntax`)
}

export const jsonText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (typeof value === 'string') readJsonDocument(Buffer.from(value), 'decoder')
}

export const base64Text: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (typeof value === 'string') decodeGoBase64(value, 'standard')
}

/** The padding may be left out. */
export const base64UrlText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (typeof value !== 'string') return
  if (!value.endsWith('=') && value.length % 4 === 1)
    throw new BuiltinError(`illegal base64url string: ${value}`)
  decodeGoBase64(value.padEnd(Math.ceil(value.length / 4) * 4, '='), 'url')
}

export const cidrText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (typeof value === 'string' && parseCidr(value) === undefined)
    throw new BuiltinError(`invalid CIDR address: ${value}`)
}

export const cidrOrAddressText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (typeof value !== 'string' || parseCidr(value) !== undefined || parseIpAddress(value) !== undefined)
    return
  throw new BuiltinError(`not a valid textual representation of an IP address or CIDR: ${value}`)
}

export const regexText: OperandCheck = (value, index, _args, { meter }) => {
  requireType(value, index, 'string')
  if (typeof value === 'string') compilePattern(value, meter)
}

export const searchText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (value === '') throw new BuiltinError('empty search character')
}

export const offset: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (value instanceof RegoNumber && value.text.startsWith('-')) throw new BuiltinError('negative offset')
}

export const numberBase: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (!(value instanceof RegoNumber) || !['2', '8', '10', '16'].includes(value.text))
    raiseType(index, 'must be one of {2, 8, 10, 16}')
}

export const replacements: OperandCheck = (value, index) => {
  requireType(value, index, 'object')
  for (const [key, replacement] of value instanceof RegoObject ? value.entries : []) {
    if (typeof key !== 'string') raiseType(index, 'non-string key found in pattern object')
    if (typeof replacement !== 'string') raiseType(index, 'non-string value found in pattern object')
  }
}

export const divisor: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (isZero(value)) throw new BuiltinError('divide by zero')
}

export const modulus: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (isZero(value)) throw new BuiltinError('modulo by zero')
  throw new BuiltinError('modulo on floating-point number')
}

function isZero(value: RegoValue): boolean {
  return value instanceof RegoNumber && Number(value.text) === 0
}
