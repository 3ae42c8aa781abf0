import { BuiltinError } from '../shared/builtin.js'
import { daysInMonth, utcNsOf } from './calendar.js'
import { isFraction, isOffset, MONTHS, splitLayout, WEEKDAYS } from './go-layout.js'
import type { LayoutPart } from './go-layout.js'
import { readZoneAbbreviation } from './zone-abbreviations.js'
import { FieldOutOfRange, LayoutMismatch, quoteTimeText, TimeText } from './time-text.js'
import { offsetOfAbbreviation } from './zone.js'
import type { Zone } from './zone.js'

const NS_PER_SECOND = 1_000_000_000n

/**
 * Parses a time by a Go layout to nanoseconds since the epoch, of any size. Fields that the layout
 * lacks are zero or one, a missing zone is UTC, and an abbreviation only counts if the local zone
 * has it. Throws BuiltinError with Go's message.
 */
export function parseTime(layout: string, value: string, local: Zone): bigint {
  const fields = readFields(layout, value)
  const problem = completeDate(fields)
  if (problem !== undefined) throw invalidTime(value, problem)
  const wallNs = utcNsOf({
    year: BigInt(fields.year),
    month: BigInt(fields.month ?? 1),
    day: BigInt(fields.day ?? 1),
    secondOfDay: (hourOfDay(fields) * 60 + fields.minute) * 60 + fields.second,
    nanosecond: fields.nanosecond,
  })
  return wallNs - BigInt(offsetOf(fields, wallNs, local)) * NS_PER_SECOND
}

function readFields(layout: string, value: string): TimeFields {
  const text = new TimeText(value)
  const fields: TimeFields = { year: 0, hour: 0, minute: 0, second: 0, nanosecond: 0 }
  const parts = splitLayout(layout)
  parts.forEach((part, i) => {
    const followedByFraction = isFraction(parts[i + 1]?.element ?? '')
    readPart({ text, layout, value }, part, fields, followedByFraction)
  })
  if (text.rest !== '') throw invalidTime(value, `extra text: ${quoteTimeText(text.rest)}`)
  return fields
}

interface Reading {
  readonly text: TimeText
  readonly layout: string
  readonly value: string
}

function readPart(reading: Reading, part: LayoutPart, fields: TimeFields, followedByFraction: boolean): void {
  const { text, layout, value } = reading
  let atFault = part.literal
  let rest: string | undefined
  try {
    text.takeLiteral(part.literal)
    atFault = part.element
    rest = text.rest
    readElement(text, part.element, fields, followedByFraction)
  } catch (error) {
    if (error instanceof FieldOutOfRange) throw invalidTime(value, `${error.field} out of range`)
    if (!(error instanceof LayoutMismatch)) throw error
    throw new BuiltinError(
      `parsing time ${quoteTimeText(value)} as ${quoteTimeText(layout)}: ` +
        `cannot parse ${quoteTimeText(rest ?? text.rest)} as ${quoteTimeText(atFault)}`,
    )
  }
}

/** Derives month and day from the day of the year. Returns a description of an invalid date. */
function completeDate(fields: TimeFields): string | undefined {
  if (fields.yearDay !== undefined) {
    const date = dateOfYearDay(fields.year, fields.yearDay)
    if (date === undefined) return 'day-of-year out of range'
    if (fields.month !== undefined && fields.month !== date.month) return 'day-of-year does not match month'
    if (fields.day !== undefined && fields.day !== date.day) return 'day-of-year does not match day'
    Object.assign(fields, date)
  }
  const day = fields.day ?? 1
  return day < 1 || day > daysInMonth(fields.year, fields.month ?? 1) ? 'day out of range' : undefined
}

function dateOfYearDay(year: number, yearDay: number): { month: number; day: number } | undefined {
  let day = yearDay
  if (day < 1) return undefined
  for (let month = 1; month <= 12; month++) {
    const days = daysInMonth(year, month)
    if (day <= days) return { month, day }
    day -= days
  }
  return undefined
}

function hourOfDay({ hour, halfDay }: TimeFields): number {
  if (halfDay === 'PM' && hour < 12) return hour + 12
  return halfDay === 'AM' && hour === 12 ? 0 : hour
}

function offsetOf({ isUtc, offsetSeconds, abbreviation }: TimeFields, wallNs: bigint, local: Zone): number {
  if (isUtc === true) return 0
  if (offsetSeconds !== undefined) return offsetSeconds
  if (abbreviation === undefined) return 0
  return offsetOfAbbreviation(local, abbreviation, Number(wallNs / NS_PER_SECOND)) ?? 0
}

function invalidTime(value: string, problem: string): BuiltinError {
  return new BuiltinError(`parsing time ${quoteTimeText(value)}: ${problem}`)
}

/** The fields of a time that have been read. */
interface TimeFields {
  year: number
  month?: number
  day?: number
  yearDay?: number
  hour: number
  minute: number
  second: number
  nanosecond: number
  halfDay?: 'AM' | 'PM'
  /** Set by `Z` or `UTC`, which precede a numeric offset, which precedes an abbreviation. */
  isUtc?: boolean
  offsetSeconds?: number
  abbreviation?: string
}

/**
 * Reads one element of a layout from the value like Go's time.Parse. `followedByFraction` is true
 * if the next element is a fraction: otherwise seconds consume an unnamed one. Throws
 * LayoutMismatch or FieldOutOfRange.
 */
function readElement(text: TimeText, element: string, fields: TimeFields, followedByFraction: boolean): void {
  if (isFraction(element)) readFraction(text, element, fields)
  else if (isOffset(element)) readOffset(text, element, fields)
  else READERS[element]?.(text, fields)
  if (element.endsWith('5') && element !== '15' && !followedByFraction) readUnnamedFraction(text, fields)
}

type ElementReader = (text: TimeText, fields: TimeFields) => void

const READERS: Readonly<Record<string, ElementReader>> = {
  '2006': (text, fields) => {
    fields.year = text.takeNumber(4, 4)
  },
  '06': (text, fields) => {
    const year = signedNumber(text.take(2))
    fields.year = year + (year >= 69 ? 1900 : 2000)
  },
  January: (text, fields) => {
    fields.month = text.takeName(MONTHS) + 1
  },
  Jan: (text, fields) => {
    fields.month = text.takeName(MONTHS, 3) + 1
  },
  '1': (text, fields) => readMonth(text, fields, false),
  '01': (text, fields) => readMonth(text, fields, true),
  // The weekday must be a valid name, but need not match the date.
  Monday: (text) => void text.takeName(WEEKDAYS),
  Mon: (text) => void text.takeName(WEEKDAYS, 3),
  '2': (text, fields) => readDay(text, fields, false),
  _2: (text, fields) => {
    text.takeIf(' ')
    readDay(text, fields, false)
  },
  '02': (text, fields) => readDay(text, fields, true),
  __2: (text, fields) => {
    if (text.takeIf(' ')) text.takeIf(' ')
    fields.yearDay = text.takeNumber(1, 3)
  },
  '002': (text, fields) => {
    fields.yearDay = text.takeNumber(3, 3)
  },
  '15': (text, fields) => {
    fields.hour = text.takeNumberBelow(24, 'hour', false)
  },
  '3': (text, fields) => {
    fields.hour = text.takeNumberBelow(13, 'hour', false)
  },
  '03': (text, fields) => {
    fields.hour = text.takeNumberBelow(13, 'hour', true)
  },
  '4': (text, fields) => {
    fields.minute = text.takeNumberBelow(60, 'minute', false)
  },
  '04': (text, fields) => {
    fields.minute = text.takeNumberBelow(60, 'minute', true)
  },
  '5': (text, fields) => {
    fields.second = text.takeNumberBelow(60, 'second', false)
  },
  '05': (text, fields) => {
    fields.second = text.takeNumberBelow(60, 'second', true)
  },
  PM: (text, fields) => {
    fields.halfDay = halfDayOf(text.take(2))
  },
  pm: (text, fields) => {
    const written = text.take(2)
    if (written !== written.toLowerCase()) throw new LayoutMismatch()
    fields.halfDay = halfDayOf(written.toUpperCase())
  },
  MST: (text, fields) => {
    if (text.takeIf('UTC')) fields.isUtc = true
    else fields.abbreviation = readZoneAbbreviation(text)
  },
}

function readMonth(text: TimeText, fields: TimeFields, isPadded: boolean): void {
  const month = text.takeShortNumber(isPadded)
  if (month < 1 || month > 12) throw new FieldOutOfRange('month')
  fields.month = month
}

function readDay(text: TimeText, fields: TimeFields, isPadded: boolean): void {
  fields.day = text.takeShortNumber(isPadded)
}

function halfDayOf(written: string): 'AM' | 'PM' {
  if (written !== 'AM' && written !== 'PM') throw new LayoutMismatch()
  return written
}

/** Zeros in the layout require as many digits; nines accept any number of digits or no fraction. */
function readFraction(text: TimeText, element: string, fields: TimeFields): void {
  if (element[1] === '0') fields.nanosecond = nanosecondsOf(text.take(element.length))
  else readUnnamedFraction(text, fields)
}

function readUnnamedFraction(text: TimeText, fields: TimeFields): void {
  if (!isFraction(text.rest) || text.digitsFrom(1, 1) === 0) return
  fields.nanosecond = nanosecondsOf(text.take(1 + text.digitsFrom(1)))
}

/** Digits after the ninth are dropped. */
function nanosecondsOf(fraction: string): number {
  if (!isFraction(fraction)) throw new LayoutMismatch()
  const digits = fraction.slice(1, 10)
  const value = signedNumber(digits)
  if (value < 0) throw new FieldOutOfRange('fractional second')
  return value * 10 ** (9 - digits.length)
}

/** Go parses these numbers with an optional sign. */
function signedNumber(text: string): number {
  if (!/^[+-]?\d*$/.test(text)) throw new LayoutMismatch()
  const digits = text.replace(/^[+-]/, '')
  return (text.startsWith('-') ? -1 : 1) * Number(digits)
}

const OFFSET_UNITS = [
  { field: 'time zone offset hour', most: 24, seconds: 3600 },
  { field: 'time zone offset minute', most: 60, seconds: 60 },
  { field: 'time zone offset second', most: 60, seconds: 1 },
]

/** Each pair of digits is one unit. As in Go, 24 hours and 60 minutes are accepted. */
function readOffset(text: TimeText, element: string, fields: TimeFields): void {
  if (element.startsWith('Z') && text.takeIf('Z')) {
    fields.isUtc = true
    return
  }
  const written = text.take(element.length)
  const shape = element.includes(':') ? /^.\d\d(?::\d\d)+$/s : /^.\d+$/s
  if (!shape.test(written)) throw new LayoutMismatch()
  const units = written.slice(1).match(/\d\d/g) ?? []
  const seconds = OFFSET_UNITS.reduce((total, unit, i) => {
    const value = Number(units[i] ?? 0)
    if (value > unit.most) throw new FieldOutOfRange(unit.field)
    return total + value * unit.seconds
  }, 0)
  if (!/^[+-]/.test(written)) throw new LayoutMismatch()
  fields.offsetSeconds = written.startsWith('-') ? -seconds : seconds
}
