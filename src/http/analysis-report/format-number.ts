import { withPrefix } from '../../lib/text/number-text.js'

const LARGE = 1e6
const SMALL = 1e-3

/** Formats a number with its significant digits: 1,234, 0.0123, 1.2n, 32.1T. */
export function formatNumber(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || (size >= SMALL && size < LARGE))
    return value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
  return withPrefix(value)
}
