const LARGE = 1e6
const SMALL = 1e-3

/** A number with the digits that matter to a reader: 1,234, 0.0123, 1.2e-9. */
export function formatNumber(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= LARGE || size < SMALL)
    return value
      .toExponential(2)
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e')
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
}

/** A share as a percentage with its sign: +12.3 %. */
export function formatChange(share: number): string {
  const percent = share * 100
  const shown = percent.toFixed(Math.abs(percent) >= 100 ? 0 : 1)
  // What is rounded to nothing has no sign.
  if (Number(shown) === 0) return '0.0 %'
  return `${percent > 0 ? '+' : ''}${shown} %`
}

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const SMALL_PREFIXES = ['', 'm', 'µ', 'n', 'p'] as const
const THOUSAND = 1000

/** A number at an axis, with the prefix of its unit where it is large or tiny: 1.5k, 20M, 0.02, 3µ. */
export function formatTick(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  const power = Math.floor(Math.log10(size) / 3)
  if (size >= SMALL && size < THOUSAND) return String(Number(value.toPrecision(4)))
  const prefix = power > 0 ? PREFIXES[power] : SMALL_PREFIXES[-power]
  return prefix === undefined
    ? formatNumber(value)
    : `${Number((value / THOUSAND ** power).toPrecision(4))}${prefix}`
}
