import { trimTrailing } from '../../../lib/text/trim-characters.js'
import { RegoNumber, typeName } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { int64Operand, isArray, numberOperand, operand, stringOperand } from '../shared/operands.js'
import { calendarDistance, wallClockAt, requireInt64, zonedNsOf } from './calendar.js'
import type { WallClock } from './calendar.js'
import {
  isFraction,
  isOffset,
  layoutOf,
  MONTHS,
  RFC3339,
  RFC3339_NANO,
  splitLayout,
  WEEKDAYS,
} from './go-layout.js'
import { parseDuration } from './parse-duration.js'
import { parseTime } from './parse-time.js'
import { findZone, localZone, UTC } from './zone.js'
import type { Zone } from './zone.js'

type Args = readonly RegoValue[]

/** Instants are nanoseconds since the epoch, within 64 bits. Layouts are Go's. */
export const timeBuiltins: BuiltinTable = {
  'time.now_ns': nowNs,
  'time.parse_ns': parseNs,
  'time.parse_rfc3339_ns': parseRfc3339Ns,
  'time.parse_duration_ns': (args) => RegoNumber.of(parseDuration(stringOperand(args, 0))),
  'time.format': format,
  'time.date': date,
  'time.clock': clock,
  'time.weekday': weekday,
  'time.add_date': addDate,
  'time.diff': diff,
}

const NOW = 'time.now_ns'

/** Recorded like a random value, because repeating the decision requires it. */
function nowNs(args: Args, { memo, nowNs }: BuiltinContext): RegoValue {
  const value = RegoNumber.of(nowNs)
  if (!memo.has(NOW)) memo.set(NOW, { name: NOW, args, result: { value } })
  return value
}

function parseNs(args: Args): RegoValue {
  const layout = layoutOf(stringOperand(args, 0))
  return RegoNumber.of(requireInt64(parseTime(layout, stringOperand(args, 1), localZone())))
}

function parseRfc3339Ns(args: Args): RegoValue {
  return RegoNumber.of(requireInt64(parseTime(RFC3339, stringOperand(args, 0), UTC)))
}

function format(args: Args): RegoValue {
  const { clock, layout } = readTime(args, 0)
  return formatTime(clock, layout === '' ? RFC3339_NANO : layoutOf(layout))
}

function date(args: Args): RegoValue {
  const { clock } = readTime(args, 0)
  return toRegoNumbers([clock.year, clock.month, clock.day])
}

function clock(args: Args): RegoValue {
  const { clock } = readTime(args, 0)
  return toRegoNumbers([clock.hour, clock.minute, clock.second])
}

function weekday(args: Args): RegoValue {
  return formatTime(readTime(args, 0).clock, 'Monday')
}

/** Go's AddDate: January 31 plus a month is March 2 or 3. */
function addDate(args: Args): RegoValue {
  const { clock, zone } = readTime(args, 0)
  const shifted = zonedNsOf(
    {
      year: BigInt(clock.year) + int64Operand(args, 1),
      month: BigInt(clock.month) + int64Operand(args, 2),
      day: BigInt(clock.day) + int64Operand(args, 3),
      secondOfDay: (clock.hour * 60 + clock.minute) * 60 + clock.second,
      nanosecond: clock.nanosecond,
    },
    zone,
  )
  return RegoNumber.of(shifted)
}

/** The second time is read on the clock of the first one's zone. */
function diff(args: Args): RegoValue {
  const first = readTime(args, 0)
  const second = readTime(args, 1)
  const [earlier, later] = first.ns <= second.ns ? [first.ns, second.ns] : [second.ns, first.ns]
  const from = wallClockAt(earlier, first.zone)
  return toRegoNumbers(calendarDistance(from, wallClockAt(later, first.zone)))
}

interface TimeOperand {
  readonly ns: bigint
  readonly zone: Zone
  readonly clock: WallClock
  readonly layout: string
}

/** A time is `ns`, `[ns, zone]` or `[ns, zone, layout]`. OPA's errors call every part operand 1. */
function readTime(args: Args, index: number): TimeOperand {
  const value = operand(args, index)
  if (!(value instanceof RegoNumber || (isArray(value) && value.length > 0))) {
    throw new BuiltinError(
      `operand 1 must be either number (ns) or [number (ns), string (tz)] but got ${typeName(value)}`,
      'eval_type_error',
    )
  }
  const parts = isArray(value) ? value : [value]
  const number = numberOperand(parts, 0)
  const zone = parts.length > 1 ? findZone(partOperand(parts, 1)) : UTC
  const layout = parts.length > 2 ? partOperand(parts, 2) : ''
  const ns = number.toBigInt()
  if (ns === undefined || BigInt.asIntN(64, ns) !== ns) throw new BuiltinError('timestamp too big')
  return { ns, zone, layout, clock: wallClockAt(ns, zone) }
}

function partOperand(parts: Args, index: number): string {
  return stringOperand(parts.slice(index), 0)
}

function toRegoNumbers(values: readonly number[]): RegoValue {
  return values.map((value) => RegoNumber.of(value))
}

/** Formats a time by a Go layout, such as `Mon, 02 Jan 2006 15:04:05 MST`. */
function formatTime(clock: WallClock, layout: string): string {
  return splitLayout(layout)
    .map(({ literal, element }) => literal + writeElement(clock, element))
    .join('')
}

type ElementWriter = (clock: WallClock) => string

const WRITERS: Readonly<Record<string, ElementWriter>> = {
  '': () => '',
  '2006': ({ year }) => padded(year, 4),
  '06': ({ year }) => padded(year % 100, 2),
  January: monthName,
  Jan: (clock) => monthName(clock).slice(0, 3),
  '1': ({ month }) => String(month),
  '01': ({ month }) => padded(month, 2),
  Monday: weekdayName,
  Mon: (clock) => weekdayName(clock).slice(0, 3),
  '2': ({ day }) => String(day),
  _2: ({ day }) => padded(day, 2, ' '),
  '02': ({ day }) => padded(day, 2),
  __2: ({ yearDay }) => padded(yearDay, 3, ' '),
  '002': ({ yearDay }) => padded(yearDay, 3),
  '15': ({ hour }) => padded(hour, 2),
  '3': (clock) => String(hourOfHalfDay(clock)),
  '03': (clock) => padded(hourOfHalfDay(clock), 2),
  '4': ({ minute }) => String(minute),
  '04': ({ minute }) => padded(minute, 2),
  '5': ({ second }) => String(second),
  '05': ({ second }) => padded(second, 2),
  PM: ({ hour }) => (hour >= 12 ? 'PM' : 'AM'),
  pm: ({ hour }) => (hour >= 12 ? 'pm' : 'am'),
  MST: (clock) => clock.abbreviation(),
}

function writeElement(clock: WallClock, element: string): string {
  if (isFraction(element)) return writeFraction(clock.nanosecond, element)
  if (isOffset(element)) return writeOffset(clock.offsetSeconds, element)
  return WRITERS[element]?.(clock) ?? element
}

/** Truncates digits. Nines drop trailing zeros, and the separator if nothing is left. */
function writeFraction(nanosecond: number, element: string): string {
  const digits = padded(nanosecond, 9).slice(0, element.length - 1)
  if (element[1] === '0') return element.charAt(0) + digits
  const significant = trimTrailing(digits, '0')
  return significant === '' ? '' : element.charAt(0) + significant
}

function writeOffset(offsetSeconds: number, element: string): string {
  if (element.startsWith('Z') && offsetSeconds === 0) return 'Z'
  const magnitude = Math.abs(offsetSeconds)
  const parts = [Math.floor(magnitude / 3600), Math.floor(magnitude / 60) % 60, magnitude % 60]
  // The form has a pair of digits for each unit after the sign.
  const shown = element.slice(1).replaceAll(':', '').length / 2
  const sign = offsetSeconds < 0 ? '-' : '+'
  return (
    sign +
    parts
      .slice(0, shown)
      .map((part) => padded(part, 2))
      .join(element.includes(':') ? ':' : '')
  )
}

function monthName({ month }: WallClock): string {
  return MONTHS[month - 1] ?? ''
}

function weekdayName({ weekday }: WallClock): string {
  return WEEKDAYS[weekday] ?? ''
}

function hourOfHalfDay({ hour }: WallClock): number {
  return hour % 12 || 12
}

function padded(value: number, width: number, fill = '0'): string {
  return String(value).padStart(width, fill)
}
