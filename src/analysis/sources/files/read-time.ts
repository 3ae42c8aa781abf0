import { readIsoTime } from '../../../lib/clocks/iso-time.js'

/**
 * Numbers from which a smaller unit than seconds is meant; as seconds they would be far in the
 * future.
 */
const NANOSECONDS_FROM = 1e17
const MICROSECONDS_FROM = 1e14
const MILLISECONDS_FROM = 1e11

/**
 * The format of nearly all logs, which the built-in parser accepts with a zone and at most
 * milliseconds.
 */
const COMMON =
  /^(?<date>\d{4}-\d\d-\d\d)[T ](?<time>\d\d:\d\d:\d\d)(?:[.,](?<fraction>\d{1,3})\d*)?(?<zone>Z|[+-]\d\d:\d\d)?$/

/**
 * A time in ms: ISO 8601 (UTC without a zone; a space for the T), or a number since the epoch in
 * the unit that its size implies. NaN for anything else.
 */
export function readTime(raw: unknown): number {
  if (typeof raw === 'number') return fromNumber(raw)
  if (typeof raw !== 'string') return Number.NaN
  const text = raw.trim()
  const common = COMMON.exec(text)
  if (common !== null) {
    const [, date, time, fraction = '0', zone = 'Z'] = common
    return Date.parse(`${date}T${time}.${fraction.padEnd(3, '0')}${zone}`)
  }
  if (/^\d+(?:\.\d+)?$/.test(text) && text.length > 8) return fromNumber(Number(text))
  // A time of day alone would mean today.
  if (!/^\d{4}-?\d\d/.test(text)) return Number.NaN
  return readIsoTime(text.replace(' ', 'T'), 'utc')
}

function fromNumber(value: number): number {
  if (value >= NANOSECONDS_FROM) return Math.floor(value / 1e6)
  if (value >= MICROSECONDS_FROM) return Math.floor(value / 1e3)
  return value >= MILLISECONDS_FROM ? value : value * 1000
}
