const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
/** RFC 9110, 5.6.7: the preferred format, the RFC 850 format and the asctime() format. */
const FORMS = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]
/** Two-digit years from here on are in the last century, as in Go. */
const FIRST_OF_LAST_CENTURY = 69

/**
 * Parses an HTTP date to milliseconds since the epoch, or NaN. As in Go, the day of the week is not
 * checked.
 */
export function parseHttpDate(text: string): number {
  const groups = FORMS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined)
  if (groups === undefined) return Number.NaN
  const { month = '' } = groups
  const [day, year, hour, minute, second] = ['day', 'year', 'hour', 'minute', 'second'].map((part) =>
    Number(groups[part]),
  ) as [number, number, number, number, number]
  const date = new Date(0)
  date.setUTCFullYear(fullYear(groups['year'] ?? '', year), MONTHS.indexOf(month), day)
  date.setUTCHours(hour, minute, second)
  // Dates that do not exist have overflowed into others.
  const isThere = date.getUTCDate() === day && date.getUTCHours() === hour && minute < 60 && second < 60
  return isThere && MONTHS.includes(month) ? date.getTime() : Number.NaN
}

function fullYear(digits: string, year: number): number {
  if (digits.length > 2) return year
  return year >= FIRST_OF_LAST_CENTURY ? 1900 + year : 2000 + year
}
