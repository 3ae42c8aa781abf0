/** Percentages from here on have three significant digits. */
const LARGE = 1000
/** Smaller p-values are shown as below this one. */
const MIN_P_VALUE = 1e-4

const THOUSAND = 1000
const TINY = 1e-3
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const SMALL_PREFIXES = ['', 'm', 'µ', 'n', 'p'] as const

let threeDigits: Intl.NumberFormat | undefined

/** A number with three significant digits and thousands separators: 0.0123, 32,400. */
export function toThreeDigits(value: number): string {
  threeDigits ??= new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
  return threeDigits.format(value)
}

/** A share without a sign, with two significant digits: 2.7 %, 0.078 %. */
export function precisePercent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`
}

/** A change with its sign: +12 %, -2.5 %, +2,350 %. */
export function percent(share: number): string {
  const value = share * 100
  if (Math.abs(value) >= LARGE) return `${value > 0 ? '+' : ''}${toThreeDigits(value)} %`
  const digits = Math.abs(value) < 10 ? 1 : 0
  const shown = value.toFixed(digits)
  // Zero after rounding has no sign.
  if (Number(shown) === 0) return `${shown.replace('-', '')} %`
  return `${value > 0 ? '+' : ''}${shown} %`
}

/**
 * A number with three significant digits, and with a unit prefix if large or tiny: 226, 0.0123,
 * 32.4M, 2.1n.
 */
export function short(value: number): string {
  const size = Math.abs(value)
  if (size >= TINY && size < THOUSAND ** 2) return toThreeDigits(value)
  return withPrefix(value, 3)
}

/**
 * A number with a unit prefix: 1.5k, 20M, 0.02, 3µ. Uses a power of ten beyond the known prefixes.
 */
export function withPrefix(value: number, digits = 4): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= TINY && size < THOUSAND) return String(Number(value.toPrecision(digits)))
  const power = Math.floor(Math.log10(size) / 3)
  const prefix = power > 0 ? PREFIXES[power] : SMALL_PREFIXES[-power]
  if (prefix !== undefined) return `${Number((value / THOUSAND ** power).toPrecision(digits))}${prefix}`
  return value
    .toExponential(2)
    .replace(/\.?0+e/, 'e')
    .replace('e+', 'e')
}

/** A p-value in a sentence: p 0.012, p below 0.0001. */
export function chance(p: number): string {
  return `p ${probability(p).replace('<', 'below ')}`
}

/** A p-value in a table: 0.012, <0.0001. */
export function probability(p: number): string {
  return p < MIN_P_VALUE ? `<${MIN_P_VALUE}` : String(Number(p.toPrecision(2)))
}
