import { parseISO } from 'date-fns/parseISO'

// `parseISO` checks the calendar. It also accepts centuries and fractional hours, and treats
// unknown offsets as UTC, so the form is checked first.
/** A date by month, week or day of the year, with or without dashes. */
const DAY = String.raw`(?<day>(?<year>[+-]\d{6}|\d{4})(?:-?(?:W(?<week>\d\d)(?:-?\d)?|\d{3}|\d\d(?:-?\d\d)?))?)`
/** A time with an offset from UTC. Java programs append the zone name in brackets. */
const TIME = String.raw`(?<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,30})?)?)?)(?:(?<offset>[Zz]|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]+\])?)?`
const MOMENT = new RegExp(`^${DAY}(?:[Tt]${TIME})?$`)
const TIME_OF_DAY = new RegExp(`^${TIME}$`)
const MS_PER_MINUTE = 60_000

/**
 * Parses an ISO 8601 time to milliseconds since the epoch. `zone` applies if the text has no
 * offset. A time without a date is on the current day. Returns NaN for anything else, including
 * days outside the calendar.
 */
export function readIsoTime(text: string, zone: 'utc' | 'local'): number {
  const { groups } = MOMENT.exec(text) ?? TIME_OF_DAY.exec(text) ?? {}
  if (groups === undefined) return Number.NaN
  const { year, week, time = '00', offset = zone === 'utc' ? 'Z' : '' } = groups
  const { day = today(offset) } = groups
  if (week !== undefined && yearOfWeek(`${year}-W${week}`) !== Number(year)) return Number.NaN
  return parseISO(`${day}T${time}${offset.toUpperCase()}`).getTime()
}

/**
 * The current date as `2026-01-31` at an offset from UTC, or by this machine's clock if `offset` is
 * empty.
 */
function today(offset: string): string {
  const now = new Date()
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? []
  const named = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const east = offset === '' ? -now.getTimezoneOffset() : named
  return new Date(now.getTime() + east * MS_PER_MINUTE).toISOString().slice(0, '2026-01-31'.length)
}

/**
 * A week belongs to the year of its Thursday. If a year has no week 53, `parseISO` returns the
 * first week of the next.
 */
function yearOfWeek(week: string): number {
  return parseISO(`${week}-4T00Z`).getUTCFullYear()
}
