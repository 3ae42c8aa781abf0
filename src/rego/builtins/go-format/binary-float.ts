const FRACTION_BITS = 52
const FRACTION_HEX_DIGITS = 13

/** A finite double taken apart: mantissa × 2^exponent, exactly. */
export interface FloatParts {
  readonly mantissa: bigint
  readonly exponent: number
}

/** The exact parts of the double's magnitude, with the 53-bit mantissa that IEEE 754 stores. */
export function splitFloat(value: number): FloatParts {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const exponentBits = Number(bits >> 52n) & 0x7ff
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = exponentBits === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  return { mantissa, exponent: (exponentBits === 0 ? 1 : exponentBits) - 1023 - FRACTION_BITS }
}

/** Go's `%b`: `4503599627370496p-52`, without a sign. */
export function formatBinaryFloat(value: number): string {
  const { mantissa, exponent } = splitFloat(value)
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`
}

/** Go's `%x`: `0x1.8p+00`, without a sign; the fewest hex digits when no precision is given. */
export function formatHexFloat(value: number, precision?: number): string {
  const parts = splitFloat(value)
  if (parts.mantissa === 0n) return hexText('0', precision ?? 0, 0)
  const shift = FRACTION_BITS + 1 - parts.mantissa.toString(2).length
  const { digits, carry } = roundHex(parts.mantissa << BigInt(shift), precision)
  return hexText(digits, precision ?? digits.length - 1, parts.exponent - shift + FRACTION_BITS + carry)
}

/** The leading 1 and the hex digits after it, rounded half to even; a carry moves the point by one binary place. */
function roundHex(mantissa: bigint, precision: number | undefined): { digits: string; carry: number } {
  if (precision === undefined) return { digits: mantissa.toString(16).replace(/0+$/, ''), carry: 0 }
  if (precision >= FRACTION_HEX_DIGITS) return { digits: mantissa.toString(16), carry: 0 }
  const dropped = BigInt(4 * (FRACTION_HEX_DIGITS - precision))
  const half = 1n << (dropped - 1n)
  const rest = mantissa & ((1n << dropped) - 1n)
  const kept = mantissa >> dropped
  const roundsUp = rest > half || (rest === half && (kept & 1n) === 1n)
  const digits = (roundsUp ? kept + 1n : kept).toString(16)
  return digits.startsWith('2') ? { digits: `1${digits.slice(1)}`, carry: 1 } : { digits, carry: 0 }
}

function hexText(digits: string, fraction: number, exponent: number): string {
  const tail = fraction > 0 ? `.${digits.slice(1).padEnd(fraction, '0')}` : ''
  const power = String(Math.abs(exponent)).padStart(2, '0')
  return `0x${digits.charAt(0)}${tail}p${exponent < 0 ? '-' : '+'}${power}`
}
