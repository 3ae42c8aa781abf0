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
  const digits = Math.abs(percent) >= 100 ? 0 : 1
  return `${percent > 0 ? '+' : ''}${percent.toFixed(digits)} %`
}
