import { parseISO } from 'date-fns/parseISO'

// `parseISO` reads the calendar, and more than times: centuries, fractions of hours, and offsets that it does not know as UTC.
/** A day by its month, its week or its number in the year; with dashes or without. */
const DAY = String.raw`(?<day>(?<year>[+-]\d{6}|\d{4})(?:-?(?:W(?<week>\d\d)(?:-?\d)?|\d{3}|\d\d(?:-?\d\d)?))?)`
/** A time of day with its offset from UTC, behind which programs in Java name the zone, too. */
const TIME = String.raw`(?<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,30})?)?)?)(?:(?<offset>[Zz]|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]+\])?)?`
const MOMENT = new RegExp(`^${DAY}(?:[Tt]${TIME})?$`)
const TIME_OF_DAY = new RegExp(`^${TIME}$`)

/**
 * A time of ISO 8601 in milliseconds since the epoch, in a zone where it names none; a time alone is one of today. NaN for anything else, a day that is
 * not in the calendar among it.
 */
export function readIsoTime(text: string, zone: 'utc' | 'local'): number {
  const { groups } = MOMENT.exec(text) ?? TIME_OF_DAY.exec(text) ?? {}
  if (groups === undefined) return Number.NaN
  const { day = today(zone), year, week, time = '00', offset = zone === 'utc' ? 'Z' : '' } = groups
  if (week !== undefined && yearOfWeek(`${year}-W${week}`) !== Number(year)) return Number.NaN
  return parseISO(`${day}T${time}${offset.toUpperCase()}`).getTime()
}

/** As `2026-01-31`. */
function today(zone: 'utc' | 'local'): string {
  const now = new Date()
  if (zone === 'local') now.setMinutes(now.getMinutes() - now.getTimezoneOffset())
  return now.toISOString().slice(0, '2026-01-31'.length)
}

/** A week belongs to the year of its Thursday; `parseISO` takes a 53rd for the first of the next year where there is none. */
function yearOfWeek(week: string): number {
  return parseISO(`${week}-4T00Z`).getUTCFullYear()
}
