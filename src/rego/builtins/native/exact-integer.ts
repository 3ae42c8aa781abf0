import { trimLastSigns } from '../../../lib/text/trim-signs.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { notANumber, requireCalculable } from './go-float.js'

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const PLAIN = /^-?\d{1,15}$/

/** Returns the integer of a text such as `1e30` or `2.50e1`; undefined for others. */
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
