import { padText, padWithSpaces } from './flags.js'
import type { FormatFlags } from './flags.js'
import { formatGoFloat } from './float.js'
import type { FloatVerb } from './float.js'
import { isPrintable, quoteGoRune, quoteGoString, toValidCodePoint } from './quote.js'

/** Go types that are formatted as text. */
type TextType = 'string' | 'json.Number' | '[]interface {}' | 'map[string]interface {}'

/** An argument and its Go type, which determines the effect of each verb. */
export type GoArgument =
  | { readonly type: 'int' | 'int64' | '*big.Int'; readonly value: bigint }
  | { readonly type: 'float64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: TextType; readonly value: string }

const FLOAT_VERBS = /^[eEfFgGbxX]$/
const FIXED_PRECISION = 6

/** Formats one argument under one verb; Go's `%!d(string=x)` if they do not match. */
export function formatArgument(argument: GoArgument, verb: string, flags: FormatFlags): string {
  if (verb === 'T') return formatString(argument.type, 's', flags) ?? ''
  return formatByType(argument, verb, flags) ?? badVerb(argument, verb, flags)
}

function formatByType(argument: GoArgument, verb: string, flags: FormatFlags): string | undefined {
  switch (argument.type) {
    case 'int':
    case 'int64':
      return formatInt(argument.value, verb, flags)
    case '*big.Int':
      return formatBigInt(argument.value, verb, flags)
    case 'float64':
      return formatFloat(argument.value, verb, flags)
    case 'bool':
      return verb === 't' || verb === 'v' ? padText(String(argument.value), flags) : undefined
    default:
      return formatString(argument.value, verb, flags)
  }
}

function badVerb(argument: GoArgument, verb: string, flags: FormatFlags): string {
  return `%!${verb}(${argument.type}=${formatByType(argument, 'v', flags) ?? ''})`
}

function formatString(value: string, verb: string, flags: FormatFlags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? formatQuoted(value, flags) : padText(truncate(value, flags.precision), flags)
    case 's':
      return padText(truncate(value, flags.precision), flags)
    case 'q':
      return formatQuoted(value, flags)
    case 'x':
    case 'X':
      return formatBytes(value, verb, flags)
    default:
      return undefined
  }
}

function formatQuoted(value: string, flags: FormatFlags): string {
  const text = truncate(value, flags.precision)
  const quoted =
    flags.sharp && Array.from(text).every(fitsBackquotes) ? `\`${text}\`` : quoteGoString(text, flags.plus)
  return padText(quoted, flags)
}

function fitsBackquotes(character: string): boolean {
  if (character === '\t') return true
  return character >= ' ' && !['`', '\x7f', '\ufeff'].includes(character)
}

function formatBytes(value: string, verb: 'x' | 'X', flags: FormatFlags): string {
  const bytes = Buffer.from(value, 'utf8').subarray(0, flags.precision)
  const prefix = flags.sharp ? `0${verb}` : ''
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
  const upper = pairs.map((pair) => (verb === 'X' ? pair.toUpperCase() : pair))
  if (flags.space) return padText(upper.map((pair) => prefix + pair).join(' '), flags)
  return padText(upper.length === 0 ? '' : prefix + upper.join(''), flags)
}

function truncate(text: string, codePoints: number | undefined): string {
  if (codePoints === undefined || text.length <= codePoints) return text
  let end = 0
  for (let taken = 0; taken < codePoints && end < text.length; taken++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

function formatFloat(value: number, verb: string, flags: FormatFlags): string | undefined {
  const floatVerb = verb === 'v' ? 'g' : verb
  if (!isFloatVerb(floatVerb)) return undefined
  const chosen = /[ef]/i.test(floatVerb) ? FIXED_PRECISION : undefined
  const plain = formatGoFloat(value, floatVerb, flags.precision ?? chosen)
  const isNegative = plain.startsWith('-')
  const magnitude = isNegative ? plain.slice(1) : plain
  const shown =
    flags.sharp && verb !== 'b' ? withDecimalPoint(magnitude, floatVerb, flags.precision) : magnitude
  const sign = signOfFloat(isNegative, flags)
  const { width = 0 } = flags
  const zerosAfterSign = sign !== '' && flags.zero && !flags.minus
  return zerosAfterSign ? sign + shown.padStart(width - 1, '0') : padText(sign + shown, flags)
}

function signOfFloat(isNegative: boolean, flags: FormatFlags): string {
  if (isNegative) return '-'
  if (flags.plus) return '+'
  return flags.space ? ' ' : ''
}

function isFloatVerb(verb: string): verb is FloatVerb {
  return FLOAT_VERBS.test(verb)
}

/** The `#` flag: always a decimal point, and for `%g` and `%x` also the trailing zeros. */
function withDecimalPoint(text: string, verb: FloatVerb, precision: number | undefined): string {
  const exponentAt = text.search(/[ep]/i)
  const number = exponentAt < 0 ? text : text.slice(0, exponentAt)
  const tail = exponentAt < 0 ? '' : text.slice(exponentAt)
  const pointed = number.includes('.') ? number : `${number}.`
  if (/[ef]/i.test(verb)) return pointed + tail
  // Go counts the x of `0x` as a digit.
  const significant = number === '0' ? 1 : number.replace('.', '').replace(/^0+/, '').length
  return pointed + '0'.repeat(Math.max(0, (precision ?? FIXED_PRECISION) - significant)) + tail
}

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 }
const BIG_BASES: Readonly<Record<string, number>> = { ...BASES, s: 10 }

/** Formats Go's `int`; undefined if the verb does not support integers. */
function formatInt(value: bigint, verb: string, flags: FormatFlags): string | undefined {
  const base = BASES[verb]
  if (base !== undefined) return formatDigits(value, base, verb, flags)
  if (verb === 'c') return padText(String.fromCodePoint(codePointOf(value)), flags)
  if (verb === 'q') return padText(quoteGoRune(codePointOf(value), flags.plus), flags)
  return verb === 'U' ? formatUnicode(value, flags) : undefined
}

function formatDigits(value: bigint, base: number, verb: string, flags: FormatFlags): string {
  const { precision, width } = flags
  if (precision === 0 && value === 0n) return padWithSpaces('', flags)
  const sign = signOf(value, flags.plus, flags.space)
  let wanted = precision ?? 0
  // Zeros from the width count like a precision, minus the sign.
  if (precision === undefined && flags.zero && !flags.minus && width !== undefined)
    wanted = width - sign.length
  const padded = digitsOf(value, base, verb).padStart(wanted, '0')
  // `%#O` has two octal marks for an int, but not for a big one.
  const digits = verb === 'O' && flags.sharp && !padded.startsWith('0') ? `0${padded}` : padded
  return padWithSpaces(sign + prefixOf(verb, flags.sharp, digits) + digits, flags)
}

/** Formats Go's `*big.Int`, whose rules differ slightly from those of `int`. */
function formatBigInt(value: bigint, verb: string, flags: FormatFlags): string {
  const base = BIG_BASES[verb]
  if (base === undefined) return `%!${verb}(big.Int=${value})`
  const { precision, width = 0 } = flags
  const sign = signOf(value, flags.plus || flags.plusV, flags.space)
  const digits = digitsOf(value, base, verb)
  const head = sign + prefixOf(verb, flags.sharp || flags.sharpV, digits)
  if (precision !== undefined) return padWithSpaces(head + digits.padStart(precision, '0'), flags)
  if (!flags.zero || flags.minus) return padWithSpaces(head + digits, flags)
  return head + digits.padStart(width - head.length, '0')
}

function formatUnicode(value: bigint, flags: FormatFlags): string {
  const digits = BigInt.asUintN(64, value).toString(16).toUpperCase()
  const code = `U+${digits.padStart(Math.max(4, flags.precision ?? 0), '0')}`
  const character = String.fromCodePoint(codePointOf(value))
  const shown =
    flags.sharp && value >= 0n && value <= 0x10ffffn && isPrintable(character) ? ` '${character}'` : ''
  return padWithSpaces(code + shown, flags)
}

function digitsOf(value: bigint, base: number, verb: string): string {
  const digits = (value < 0n ? -value : value).toString(base)
  return verb === 'X' ? digits.toUpperCase() : digits
}

function signOf(value: bigint, plus: boolean, space: boolean): string {
  if (value < 0n) return '-'
  if (plus) return '+'
  return space ? ' ' : ''
}

function prefixOf(verb: string, sharp: boolean, digits: string): string {
  if (verb === 'O') return '0o'
  if (!sharp) return ''
  if (verb === 'o') return digits.startsWith('0') ? '' : '0'
  return { b: '0b', x: '0x', X: '0X' }[verb] ?? ''
}

function codePointOf(value: bigint): number {
  return value < 0n || value > 0x10ffffn ? 0xfffd : toValidCodePoint(Number(value))
}
