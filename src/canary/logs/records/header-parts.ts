const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?`
const ZONE = String.raw`(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}T|[+-]\d\d:?\d\d)(?![\w:]))?`
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?'

/** As syslog has it (RFC 3164). */
export const SYSLOG_TIME = String.raw`${MONTH} [ \d]\d \d\d:\d\d:\d\d`

/** The times that layouts begin a line with, as a source of a regular expression. */
export const TIME = [
  String.raw`\d{4}[-/.]\d\d[-/.]\d\d(?:[T_ ]${CLOCK}${ZONE})?`,
  String.raw`\d\d[-/.]\d\d[-/.]\d{2,4}[T ]${CLOCK}${ZONE}`,
  String.raw`\d\d\/${MONTH}\/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?`,
  String.raw`${DAY}${MONTH} +\d{1,2},? (?:\d{4} )?${CLOCK}(?: [AP]M)?${ZONE}(?: \d{4})?`,
  String.raw`${DAY}\d{1,2} ${MONTH} \d{4} ${CLOCK}${ZONE}`,
  String.raw`\d{6} \d{6}(?=\s)`,
  String.raw`\d\d:\d\d:\d\d(?:[.,]\d+)?${ZONE}`,
  String.raw`1\d{9}(?:\.\d+|\d{3})?(?=\s)`,
]
  .map((choice) => `(?:${choice})`)
  .join('|')
  .replace(/^(.*)$/s, '(?:$1)')

/** Fields of a line in `key=value` that say when, how bad and where from, and nothing of what happened. */
const LAYOUT_FIELDS = new Set(
  'time ts timestamp @timestamp date level lvl severity logger caller source thread pid hostname'.split(' '),
)

/** Whether a field belongs to what happened. */
export function isKeptField(name: string): boolean {
  return !LAYOUT_FIELDS.has(name)
}
