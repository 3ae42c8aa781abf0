import { BigDecimal } from '../../values/number-text.js'

const DECIMAL = /^(?<sign>[+-]?)(?<number>(?:[\d_]+\.?[\d_]*|\.[\d_]+)(?:e[+-]?[\d_]+)?)$/i
const HEXADECIMAL = /^(?<sign>[+-]?)0x(?<whole>[\da-f_]*)\.?(?<fraction>[\da-f_]*)p(?<exponent>[+-]?[\d_]+)$/i
/** Go takes an underscore between two digits, the `x` of a base prefix counting as one. */
const STRAY_UNDERSCORE = /^_|_$|[^\da-fx]_|_[^\da-f]/i
const BITS_PER_DIGIT = 4
const BEYOND_DOUBLE = '1e999'
/** What is written the same in JSON. */
const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/

/**
 * The JSON text of the number that Go's `strconv.ParseFloat` reads in a text, underscores and hexadecimal floats
 * included; undefined where it reads none, and where the number is beyond a double.
 */
export function goFloatText(text: string): string | undefined {
  if (PLAIN_DECIMAL.test(text)) return text
  const number = numberText(text)
  return number !== undefined && Number.isFinite(Number(number)) ? number : undefined
}

/** Whether the text is a number that no double is large enough for. */
export function isBeyondDouble(text: string): boolean {
  return !Number.isFinite(Number(numberText(text) ?? '0'))
}

/** The number in decimal digits, of any size. */
function numberText(text: string): string | undefined {
  const unsigned = text.replace(/^[+-]/, '')
  return STRAY_UNDERSCORE.test(unsigned) ? undefined : (decimalText(text) ?? hexadecimalText(text))
}

function decimalText(text: string): string | undefined {
  const groups = DECIMAL.exec(text)?.groups
  if (groups === undefined) return undefined
  const { sign = '', number = '' } = groups
  const [mantissa = '', exponent] = number.replaceAll('_', '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  if (whole === '' && fraction === '') return undefined
  const digits = `${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`
  return `${sign === '-' ? '-' : ''}${digits}${exponent === undefined ? '' : `e${exponent}`}`
}

function hexadecimalText(text: string): string | undefined {
  const groups = HEXADECIMAL.exec(text)?.groups
  if (groups === undefined) return undefined
  const [whole = '', fraction = '', exponent = ''] = ['whole', 'fraction', 'exponent'].map((name) =>
    (groups[name] ?? '').replaceAll('_', ''),
  )
  // A double has 53 bits; longer texts are nobody's numbers.
  if (whole + fraction === '' || (whole + fraction).length > 100 || exponent.length > 6) return undefined
  const shift = Number(exponent) - fraction.length * BITS_PER_DIGIT
  const value = new BigDecimal(2).pow(shift).times(BigInt(`0x${whole}${fraction}`).toString())
  const double = value.toNumber()
  if (!Number.isFinite(double)) return BEYOND_DOUBLE
  return `${groups['sign'] === '-' ? '-' : ''}${new BigDecimal(double).toFixed()}`
}
