import { trimLastSigns } from '../../../lib/text/trim-signs.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { notANumber, requireCalculable } from './go-float.js'

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const PLAIN = /^-?\d{1,15}$/

/** The integer that the text of a number writes, in full (`1e30` and `2.50e1` among them); undefined for any other number. */
export function exactInteger(text: string, meter: WorkMeter): bigint | undefined {
  if (PLAIN.test(text)) return BigInt(text)
  const [, sign = '', whole = '', fraction = '', written = '0'] = NUMBER.exec(text) ?? notANumber(text)
  const digits = trimLastSigns(`${whole}${fraction}`, '0')
  if (digits === '' || /^0+$/.test(digits)) return 0n
  const exponent = Number(written) + whole.length - digits.length
  if (exponent < 0) return undefined
  requireCalculable(digits.length + exponent, meter)
  meter.spend(digits.length + exponent)
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent)
  return sign === '-' ? -magnitude : magnitude
}
