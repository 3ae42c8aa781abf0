import { isRecord } from '../../../lib/validation/record.js'
import type { LineFilter } from '../../sources.js'
import { fieldValue, textOf } from '../../../lib/validation/field-value.js'
import { RECORD_FIELDS, describeRecord } from '../../../canary/index.js'
import { readTime } from './read-time.js'

/** What a line of a file says; undefined where it cannot be read as what the file is. */
export type ReadLine = (line: string) => FileLine | undefined

export interface FileLine {
  readonly atMs: number
  readonly text: string
  readonly hasField: (filter: LineFilter) => boolean
}

const LEADING_TIME = /^[[(<"]?(?<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)/

/** Access logs: `10.0.0.7 - - [21/Nov/2026:06:00:14 +0000] "GET …`. */
const BRACKETED_TIME = /^[^[]{0,200}\[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d)(?:\.\d+)? ?([+-]\d{4})?\]/
/** Written by nginx and Go, in UTC as far as one can know. */
const SLASHED_TIME = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d)/

function timeIn(text: string): number {
  const time = LEADING_TIME.exec(text)?.groups?.['time']
  if (time !== undefined) return readTime(time)
  const bracketed = BRACKETED_TIME.exec(text)
  if (bracketed !== null) {
    const [, day, month, year, clock, zone = '+0000'] = bracketed
    return Date.parse(`${day} ${month} ${year} ${clock} ${zone}`)
  }
  const slashed = SLASHED_TIME.exec(text)
  return slashed === null ? Number.NaN : readTime(`${slashed.slice(1, 4).join('-')}T${slashed[4]}Z`)
}

/** Lines of text: the time is what a line starts with, or what an access log has in brackets; one that has none belongs to the line before it. */
export function makeTextReader(): ReadLine {
  let atMs = Number.NaN
  return (text) => {
    const readMs = timeIn(text)
    atMs = Number.isNaN(readMs) ? atMs : readMs
    return { atMs, text, hasField: () => false }
  }
}

/** Lines that are a JSON object each. */
export function makeJsonReader(timeField: string, messageField: string): ReadLine {
  return (line) => {
    const document = tryParse(line)
    const text = describeRecord(document, messageField)
    if (!isRecord(document) || text === undefined) return undefined
    return {
      atMs: timeOf(document, timeField),
      text,
      hasField: ({ field, value, match }) => {
        const found = textOf(fieldValue(document, field))
        return match === 'exact' ? found === value : (found?.startsWith(value) ?? false)
      },
    }
  }
}

/** Of the named field, else of the usual ones. */
function timeOf(document: unknown, timeField: string): number {
  for (const field of [timeField, ...RECORD_FIELDS.time]) {
    const atMs = readTime(fieldValue(document, field))
    if (!Number.isNaN(atMs)) return atMs
  }
  return Number.NaN
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
