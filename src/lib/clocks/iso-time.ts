import { parseISO } from 'date-fns/parseISO'

// `parseISO` reads the calendar, and more than times: centuries, fractions of hours, and offsets that it does not know as UTC.
/** A day by its month, its week or its number in the year; with dashes or without. */
const DAY = String.raw`(?<day>(?<year>[+-]\d{6}|\d{4})(?:-?(?:W(?<week>\d\d)(?:-?\d)?|\d{3}|\d\d(?:-?\d\d)?))?)`
/** A time of day with its offset from UTC, behind which programs in Java name the zone, too. */
const TIME = String.raw`(?<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,30})?)?)?)(?:(?<offset>[Zz]|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]+\])?)?`
const MOMENT = new RegExp(`^${DAY}(?:[Tt]${TIME})?$`)
const TIME_OF_DAY = new RegExp(`^${TIME}$`)
const MS_PER_MINUTE = 60_000

/**
 * A time of ISO 8601 in milliseconds since the epoch, in a zone where it names none; a time alone is one of the day that it is there now. NaN for anything else, a day that is
 * not in the calendar among it.
 */
export function readIsoTime(text: string, zone: 'utc' | 'local'): number {
  const { groups } = MOMENT.exec(text) ?? TIME_OF_DAY.exec(text) ?? {}
  if (groups === undefined) return Number.NaN
  const { year, week, time = '00', offset = zone === 'utc' ? 'Z' : '' } = groups
  const { day = today(offset) } = groups
  if (week !== undefined && yearOfWeek(`${year}-W${week}`) !== Number(year)) return Number.NaN
  return parseISO(`${day}T${time}${offset.toUpperCase()}`).getTime()
}

/** As `2026-01-31`, where clocks are so far from UTC; of this machine's clock where `offset` is empty. */
function today(offset: string): string {
  const now = new Date()
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? []
  const named = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const east = offset === '' ? -now.getTimezoneOffset() : named
  return new Date(now.getTime() + east * MS_PER_MINUTE).toISOString().slice(0, '2026-01-31'.length)
}

/** A week belongs to the year of its Thursday; `parseISO` takes a 53rd for the first of the next year where there is none. */
function yearOfWeek(week: string): number {
  return parseISO(`${week}-4T00Z`).getUTCFullYear()
}
