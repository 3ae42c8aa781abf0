import { BigDecimal } from '../../values/number-text.js'
import { BuiltinError } from '../shared/builtin.js'
import { quoteTimeText } from './time-text.js'

const UNIT_NS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])
const MAX_NS = 2n ** 63n
/** Number and unit. A number may lack either side of its point, but not both. */
const TERM = /(\d*)(\.?)(\d*)([^.\d]*)/y

/** Days, weeks and years in hours, which OPA 1.16 accepts in addition to Go's units. */
const HOURS: ReadonlyMap<string, number> = new Map([
  ['d', 24],
  ['w', 168],
  ['y', 8760],
])
const EXTENDED = /^[-+]?(?:[\d.]+(?:ms|us|\u00b5s|ns|[a-z]))+$/
const SEGMENT = /([\d.]+)(ms|us|\u00b5s|ns|[a-z])/g

/** Parses `1h2m3.5s`, `-1.5h` or `1w2d` to nanoseconds. Throws BuiltinError. */
export function parseDuration(text: string): bigint {
  if (!/[dwy]/.test(text)) return parseGoDuration(text)
  if (!EXTENDED.test(text)) throw invalid(text)
  const inHours = text.replace(SEGMENT, (segment, digits: string, unit: string) => {
    const hours = HOURS.get(unit)
    return hours === undefined ? segment : `${decimalText(Number(digits) * hours, text)}h`
  })
  try {
    return parseGoDuration(inHours)
  } catch (raw) {
    // OPA replaces the last word of the message with the original text.
    if (raw instanceof BuiltinError)
      throw new BuiltinError(raw.message.replace(/ \S*$/, ` ${quoteTimeText(text)}`))
    throw raw
  }
}

function decimalText(value: number, text: string): string {
  if (!Number.isFinite(value)) throw invalid(text)
  return new BigDecimal(value).toFixed()
}

/** Go's time.ParseDuration. */
function parseGoDuration(text: string): bigint {
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return 0n
  if (unsigned === '') throw invalid(text)
  const magnitude = sumOfTerms(unsigned, text)
  const isNegative = text.startsWith('-')
  if (magnitude > (isNegative ? MAX_NS : MAX_NS - 1n)) throw invalid(text)
  return isNegative ? -magnitude : magnitude
}

function sumOfTerms(unsigned: string, text: string): bigint {
  let total = 0n
  TERM.lastIndex = 0
  while (TERM.lastIndex < unsigned.length) {
    const [, whole = '', , fraction = '', unit = ''] = TERM.exec(unsigned) ?? []
    if (whole === '' && fraction === '') throw invalid(text)
    total += termNs(whole, fraction, unit, text)
    if (total > MAX_NS) throw invalid(text)
  }
  return total
}

function termNs(whole: string, fraction: string, unit: string, text: string): bigint {
  // Nineteen digits exceed the limit in any unit, so longer texts need no conversion.
  const significant = whole.replace(/^0+/, '')
  if (significant.length > 19 || BigInt(significant) > MAX_NS) throw invalid(text)
  if (unit === '') throw new BuiltinError(`time: missing unit in duration ${quoteTimeText(text)}`)
  const unitNs = UNIT_NS.get(unit)
  if (unitNs === undefined) {
    throw new BuiltinError(`time: unknown unit ${quoteTimeText(unit)} in duration ${quoteTimeText(text)}`)
  }
  return BigInt(significant) * unitNs + fractionNs(fraction, unitNs)
}

/** Multiplies doubles like Go, so that `0.3333333333333333333h` is 20 minutes. */
function fractionNs(fraction: string, unitNs: bigint): bigint {
  let digits = 0n
  let scale = 1
  for (const digit of fraction) {
    const longer = digits * 10n + BigInt(digit)
    if (longer >= MAX_NS) break
    digits = longer
    scale *= 10
  }
  return BigInt(Math.trunc(Number(digits) * (Number(unitNs) / scale)))
}

function invalid(text: string): BuiltinError {
  return new BuiltinError(`time: invalid duration ${quoteTimeText(text)}`)
}
