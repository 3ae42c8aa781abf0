import type { FormatFlags } from './flags.js'
import { padText, padWithSpaces } from './flags.js'
import { isPrintable, quoteGoRune, toValidCodePoint } from './quote.js'

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 }
const BIG_BASES: Readonly<Record<string, number>> = { ...BASES, s: 10 }

/** Go's `int` under a verb, or undefined when the verb does not suit an integer. */
export function formatInt(value: bigint, verb: string, flags: FormatFlags): string | undefined {
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
  // Zeros asked for by the width count like a precision, less the place of the sign.
  if (precision === undefined && flags.zero && !flags.minus && width !== undefined)
    wanted = width - sign.length
  const padded = digitsOf(value, base, verb).padStart(wanted, '0')
  // `%#O` marks octal twice for an int, though not for a big one.
  const digits = verb === 'O' && flags.sharp && !padded.startsWith('0') ? `0${padded}` : padded
  return padWithSpaces(sign + prefixOf(verb, flags.sharp, digits) + digits, flags)
}

/** Go's `*big.Int` under a verb: its own rules, a little different from those of `int`. */
export function formatBigInt(value: bigint, verb: string, flags: FormatFlags): string {
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
