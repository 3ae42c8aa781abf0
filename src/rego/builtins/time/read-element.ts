import { isFraction, isOffset, MONTHS, WEEKDAYS } from './go-layout.js'
import { FieldOutOfRange, LayoutMismatch } from './time-text.js'
import type { TimeText } from './time-text.js'
import { readZoneAbbreviation } from './read-zone-abbreviation.js'

/** What has been read of a time so far. */
export interface TimeFields {
  year: number
  month?: number
  day?: number
  yearDay?: number
  hour: number
  minute: number
  second: number
  nanosecond: number
  halfDay?: 'AM' | 'PM'
  /** Set by `Z` or `UTC`, which win over an offset in digits, which wins over an abbreviation. */
  isUtc?: boolean
  offsetSeconds?: number
  abbreviation?: string
}

/**
 * Reads one element of a layout from the value, as Go's time.Parse does. `followedByFraction` tells whether the next
 * element is a fraction: a second takes one that the layout does not name. Raises LayoutMismatch or FieldOutOfRange.
 */
export function readElement(
  text: TimeText,
  element: string,
  fields: TimeFields,
  followedByFraction: boolean,
): void {
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
  // The name of the day must be one, but not the right one.
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

/** Zeros in the layout want as many digits; nines take any number of them, or no fraction. */
function readFraction(text: TimeText, element: string, fields: TimeFields): void {
  if (element[1] === '0') fields.nanosecond = nanosecondsOf(text.take(element.length))
  else readUnnamedFraction(text, fields)
}

function readUnnamedFraction(text: TimeText, fields: TimeFields): void {
  if (!isFraction(text.rest) || text.digitsFrom(1, 1) === 0) return
  fields.nanosecond = nanosecondsOf(text.take(1 + text.digitsFrom(1)))
}

/** Digits past the ninth are dropped. */
function nanosecondsOf(fraction: string): number {
  if (!isFraction(fraction)) throw new LayoutMismatch()
  const digits = fraction.slice(1, 10)
  const value = signedNumber(digits)
  if (value < 0) throw new FieldOutOfRange('fractional second')
  return value * 10 ** (9 - digits.length)
}

/** Go reads these numbers with a routine that takes a sign. */
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

/** Each pair of digits is one unit, smaller from left to right; 24 hours and 60 minutes pass, as some write them. */
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
