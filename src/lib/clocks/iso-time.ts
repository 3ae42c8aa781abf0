const MS_PER_MINUTE = 60_000
const MS_PER_DAY = 86_400_000
const DAYS_A_WEEK = 7

/** A day by its month, its week or its number in the year; with dashes or without. */
const DATE =
  /^(?<year>[+-]\d{6}|\d{4})(?:-?(?:W(?<week>\d\d)(?:-?(?<weekday>[1-7]))?|(?<ordinal>\d{3})|(?<month>\d\d)(?:-?(?<day>\d\d))?))?$/
/** A time of day with its offset from UTC, behind which programs in Java name the zone, too. */
const TIME =
  /^(?<hour>\d\d)(?::?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d{1,30}))?)?)?(?:(?<utc>[Zz])|(?<sign>[+-])(?<hours>\d\d)(?::?(?<minutes>\d\d))?(?:\[[^\]]+\])?)?$/

/** A time of day in ms, and how far east of Greenwich it is meant, in ms; undefined where that is not said. */
interface TimeOfDay {
  readonly ms: number
  readonly offsetMs: number | undefined
}

/**
 * A time of ISO 8601 in milliseconds since the epoch, in a zone where it names none; a time alone is one of today. NaN for anything else, a day that is
 * not in the calendar among it.
 */
export function readIsoTime(text: string, zone: 'utc' | 'local'): number {
  const at = text.indexOf('T')
  const isTimeAlone = at < 0 && !DATE.test(text)
  const dayMs = isTimeAlone ? today(zone) : readDay(at < 0 ? text : text.slice(0, at))
  const time = at < 0 && !isTimeAlone ? { ms: 0, offsetMs: undefined } : readTimeOfDay(text.slice(at + 1))
  if (time === undefined) return Number.NaN
  if (time.offsetMs !== undefined || zone === 'utc') return dayMs + time.ms - (time.offsetMs ?? 0)
  const day = new Date(dayMs)
  const local = new Date(0)
  local.setFullYear(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate())
  return local.setHours(0, 0, 0, time.ms)
}

/** Its beginning in UTC, as are those below. */
function today(zone: 'utc' | 'local'): number {
  const now = new Date()
  return zone === 'utc'
    ? now.setUTCHours(0, 0, 0, 0)
    : startOf(now.getFullYear(), now.getMonth(), now.getDate())
}

function readDay(text: string): number {
  const { year = '', week, weekday = '1', ordinal, month = '1', day = '1' } = DATE.exec(text)?.groups ?? {}
  if (year === '') return Number.NaN
  if (week !== undefined) return startInWeek(Number(year), Number(week), Number(weekday))
  const start =
    ordinal === undefined
      ? startOf(Number(year), Number(month) - 1, Number(day))
      : startOf(Number(year), 0, Number(ordinal))
  const found = new Date(start)
  const isThere =
    ordinal === undefined
      ? found.getUTCMonth() === Number(month) - 1 && found.getUTCDate() === Number(day)
      : found.getUTCFullYear() === Number(year) && ordinal !== '000'
  return isThere ? start : Number.NaN
}

/** The first week has the fourth of January; each belongs to the year of its Thursday. */
function startInWeek(year: number, week: number, weekday: number): number {
  const fourth = startOf(year, 0, 4)
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % DAYS_A_WEEK) * MS_PER_DAY
  const start = monday + (week - 1) * DAYS_A_WEEK * MS_PER_DAY
  const thursday = new Date(start + 3 * MS_PER_DAY)
  return thursday.getUTCFullYear() === year ? start + (weekday - 1) * MS_PER_DAY : Number.NaN
}

function startOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

function readTimeOfDay(text: string): TimeOfDay | undefined {
  const { groups } = TIME.exec(text) ?? {}
  if (groups === undefined) return undefined
  const { hour, minute = '0', second = '0', fraction = '0', utc, sign, hours = '0', minutes = '0' } = groups
  if (Number(minute) > 59 || Number(second) > 59) return undefined
  const ms =
    (Number(hour) * 60 + Number(minute)) * MS_PER_MINUTE +
    Number(second) * 1000 +
    Math.floor(Number(`0.${fraction}`) * 1000)
  if (ms > MS_PER_DAY) return undefined
  if (utc !== undefined) return { ms, offsetMs: 0 }
  if (sign === undefined) return { ms, offsetMs: undefined }
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MS_PER_MINUTE
  return { ms, offsetMs: sign === '-' ? -offsetMs : offsetMs }
}
