import type { WorkMeter } from '../../metering/work-meter.js'

/** A number, exactly; the denominator is positive. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i
/** Past this many digits an amount is no measure of anything, only work. */
const MAX_DIGITS = 1000

/** The value of a decimal number such as `1.5e3`; undefined when the text is none. */
export function parseFraction(text: string, meter: WorkMeter): Fraction | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', decimals = '', exponentText = '0'] = match
  if (whole === '' && decimals === '') return undefined
  const exponent = Number(exponentText) - decimals.length
  if (whole.length + decimals.length > MAX_DIGITS || Math.abs(exponent) > MAX_DIGITS) {
    meter.exceed(`an amount has more than ${MAX_DIGITS} digits`)
  }
  const scale = 10n ** BigInt(Math.abs(exponent))
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${decimals}`)
  return exponent < 0
    ? { numerator: digits, denominator: scale }
    : { numerator: digits * scale, denominator: 1n }
}
