import { TextDecoder } from 'node:util'

import { AppError } from '../../../errors/app-error.js'
import type { FetchBudget, LinesAnswer, LinesQuery, LineFilter } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { FileSettings } from '../answers/source-settings.js'
import { fillPath } from '../templates/fill-path.js'
import { openInside } from './open-inside.js'
import { isRecord } from '../../../lib/validation/record.js'
import { fieldValue, textOf } from '../../../lib/validation/field-value.js'
import { RECORD_FIELDS, describeRecord } from '../../../canary/index.js'
import { readTime } from './read-time.js'

const JSON_LINES = /\.(?:ndjson|jsonl|json)$/i
/** Between two of them the clock is looked at. */
const CHUNK_BYTES = 256 * 1024

/**
 * Reads log lines from a file: text, or one JSON object per line (.ndjson, .jsonl, .json). The
 * query is the path. Raises an AppError for an unreadable file.
 */
export async function readFileLines(
  query: LinesQuery,
  budget: FetchBudget,
  settings: FileSettings,
  now: () => number,
): Promise<LinesAnswer> {
  const { path } = fillPath(query.query, query.scope)
  const isJson = JSON_LINES.test(path)
  if (!isJson && (query.filters ?? []).length > 0) {
    throw new AppError(
      'invalid',
      'lines of text have no fields to filter by: use a file with one JSON object a line',
    )
  }
  const read = isJson
    ? makeJsonReader(settings.timeField, query.messageField ?? settings.messageField)
    : makeTextReader()
  const reading = new FileReading(query, new LineCollector(narrowed(settings, query.limits), query), read)
  const endMs = now() + budget.budgetMs
  const file = await openInside(settings.directory, path)
  let interruption: string | undefined
  try {
    const bytes = file.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES })
    for await (const lines of splitLines(asUtf8(bytes))) {
      if (budget.signal?.aborted === true || now() > endMs)
        interruption = `${settings.name}: the time for reading ${path} is used up`
      if (interruption !== undefined || !lines.every((line) => reading.add(line))) break
    }
  } finally {
    await file.close()
  }
  const { collector } = reading
  return linesAnswer({ query: path, window: query, collector, interruption, ...reading.remarks(path) })
}

/** The lines of a file so far. */
class FileReading {
  readonly collector: LineCollector
  readonly #query: LinesQuery
  readonly #read: ReadLine
  #unreadable = 0
  #timeless = 0

  constructor(query: LinesQuery, collector: LineCollector, read: ReadLine) {
    this.#query = query
    this.collector = collector
    this.#read = read
  }

  /** Adds a line if it is in the window. Returns false at a limit. */
  add(line: string): boolean {
    if (line.trim() === '') return true
    const fileLine = this.#read(line)
    if (fileLine === undefined) this.#unreadable += 1
    return fileLine === undefined || !this.#isWanted(fileLine) || this.#take(fileLine)
  }

  remarks(path: string): { readonly gaps: string[]; readonly warnings: string[] } {
    return {
      gaps:
        this.#unreadable === 0 ? [] : [`${path}: ${this.#unreadable} lines have no message that can be read`],
      warnings:
        this.#timeless === 0
          ? []
          : [`${path}: ${this.#timeless} lines without a time are taken to be in the window`],
    }
  }

  /** A line without a time may be of any window. */
  #isWanted({ atMs, hasField }: FileLine): boolean {
    const { startMs, endMs, filters = [] } = this.#query
    return (Number.isNaN(atMs) || (atMs >= startMs && atMs < endMs)) && filters.every(hasField)
  }

  #take({ atMs, text }: FileLine): boolean {
    if (Number.isNaN(atMs)) this.#timeless += 1
    return this.collector.add(atMs, text)
  }
}

/** Reads a line of a file; undefined if it is malformed. */
type ReadLine = (line: string) => FileLine | undefined

interface FileLine {
  readonly atMs: number
  readonly text: string
  readonly hasField: (filter: LineFilter) => boolean
}

const LEADING_TIME = /^[[(<"]?(?<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)/

/** Access logs: `10.0.0.7 - - [21/Nov/2026:06:00:14 +0000] "GET …`. */
const BRACKETED_TIME = /^[^[]{0,200}\[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d)(?:\.\d+)? ?([+-]\d{4})?\]/
/** Written by nginx and Go, in UTC by assumption. */
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

/**
 * Reads lines of text. The time is at the start of a line, or in brackets in an access log. A line
 * without one belongs to the line before it.
 */
function makeTextReader(): ReadLine {
  let atMs = Number.NaN
  return (text) => {
    const readMs = timeIn(text)
    atMs = Number.isNaN(readMs) ? atMs : readMs
    return { atMs, text, hasField: () => false }
  }
}

/** Lines that are a JSON object each. */
function makeJsonReader(timeField: string, messageField: string): ReadLine {
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

/** The named field, else one of the usual fields. */
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

/** Byte order marks (Unicode 23.8). */
const MARKS = [
  { bytes: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { bytes: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
  { bytes: Buffer.from([0xef, 0xbb, 0xbf]), encoding: undefined },
] as const

/**
 * The bytes of a file in UTF-8, without a byte order mark. Files in UTF-16, as Windows writes them,
 * have one.
 */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined
  let isFirst = true
  for await (const chunk of chunks) {
    const mark = isFirst
      ? MARKS.find(({ bytes }) => chunk.subarray(0, bytes.length).equals(bytes))
      : undefined
    isFirst = false
    if (mark?.encoding !== undefined) decoder = new TextDecoder(mark.encoding)
    const rest = chunk.subarray(mark?.bytes.length ?? 0)
    yield decoder === undefined ? rest : Buffer.from(decoder.decode(rest, { stream: true }))
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode())
}

const NEWLINE = 0x0a
const RETURN = 0x0d
/** The rest of a longer line is skipped, so that a file without line breaks takes no memory. */
const MAX_LINE_BYTES = 256 * 1024

/**
 * The lines of a stream of bytes, without line ends, grouped by the chunk that completes them. Very
 * long lines are cut.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let parts: Buffer[] = []
  let length = 0
  const keep = (bytes: Buffer): void => {
    const free = MAX_LINE_BYTES - length
    if (free > 0) parts.push(bytes.subarray(0, free))
    length += Math.min(bytes.length, Math.max(0, free))
  }
  const take = (): string => {
    const line = Buffer.concat(parts)
    parts = []
    length = 0
    return line.at(-1) === RETURN ? line.toString('utf8', 0, line.length - 1) : line.toString()
  }
  for await (const chunk of chunks) {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      lines.push(take())
      start = end + 1
    }
    keep(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (length > 0) yield [take()]
}
