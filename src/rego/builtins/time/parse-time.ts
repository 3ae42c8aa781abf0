import { BuiltinError } from '../shared/builtin.js'
import { daysInMonth, utcNsOf } from './calendar.js'
import { isFraction, splitLayout } from './go-layout.js'
import type { LayoutPart } from './go-layout.js'
import { quoteTimeText, FieldOutOfRange, LayoutMismatch, TimeText } from './time-text.js'
import { readElement } from './read-element.js'
import type { TimeFields } from './read-element.js'
import { offsetOfAbbreviation } from './zone.js'
import type { Zone } from './zone.js'

const NS_PER_SECOND = 1_000_000_000n

/**
 * Reads a time by a Go layout: nanoseconds since the epoch, of any size. Fields that the layout lacks are zero or one,
 * a missing zone is UTC, and an abbreviation counts only when it is one of the local zone's. Raises BuiltinError with
 * Go's text.
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

/** Finds month and day from the day of the year, and says what is wrong with the date. */
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
