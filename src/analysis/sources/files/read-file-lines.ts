import { AppError } from '../../../errors/app-error.js'
import type { FetchBudget, LinesAnswer, LinesQuery } from '../../sources.js'
import { LineCollector, narrowed } from '../answers/line-collector.js'
import { linesAnswer } from '../answers/lines-answer.js'
import type { FileSettings } from '../answers/source-settings.js'
import { fillPath } from '../templates/fill-path.js'
import { asUtf8 } from './as-utf8.js'
import { makeJsonReader, makeTextReader } from './line-reader.js'
import type { FileLine, ReadLine } from './line-reader.js'
import { openInside } from './open-inside.js'
import { splitLines } from './split-lines.js'

const JSON_LINES = /\.(?:ndjson|jsonl|json)$/i
/** Between two of them the clock is looked at. */
const CHUNK_BYTES = 256 * 1024

/**
 * Log lines from a file: text, or one JSON object a line (.ndjson, .jsonl, .json); the query is the path. Raises an AppError for
 * a file that cannot be read.
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

/** What the lines of a file have brought so far. */
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

  /** Takes a line where it is wanted; false when a limit is reached. */
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
