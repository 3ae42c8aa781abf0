import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { describeLine } from '../../../canary/index.js'
import type { LineFilter, LinesQuery } from '../../sources.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { BoundedRemarks } from '../answers/answers.js'
import { readNumber } from '../answers/read-number.js'
import { WITHOUT_WILDCARDS, fillQuotedText } from '../templates/fill-quoted-text.js'
import { Filling } from '../templates/filling.js'
import { NOWHERE } from '../templates/escape-contexts.js'
import { wholeWindow } from './lines-api.js'
import type { LinesApi, LinesPage, ServedLine } from './lines-api.js'

const MS_PER_SECOND = 1000
const EXPORT_PATH = '/services/search/v2/jobs/export'
const INDEX = /^[\w-]{1,200}$/
const FIELD = /^[\w.@:-]+$/
/** The time of an event in seconds: `_time` is a string in the time zone of the user. */
const TIME = 'tidegate_time'

const Row = z.object({
  preview: z.boolean().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  messages: z.array(z.object({ type: z.string(), text: z.string() })).optional(),
})

/**
 * Splunk's export of a search, one object per line: the first events of the window in order of
 * time, in one answer. `size` is their maximum number. Raises `invalid` for an invalid search or
 * filter.
 */
export function splunkApi(query: LinesQuery, index: string | undefined): LinesApi {
  const { startMs, endMs } = wholeWindow(query)
  const search = searchOf(query, index)
  const { messageField = '_raw' } = query
  return {
    text: search,
    request: ({ size }) => ({
      method: 'POST',
      path: EXPORT_PATH,
      form: {
        // A search returns its newest events first, but a limit must keep the start of the window.
        search: `${search} | eval ${TIME}=_time | fields ${TIME}, _raw, "${messageField}" | sort ${size} +${TIME}`,
        ...{ output_mode: 'json', preview: 'false' },
        earliest_time: String(startMs / MS_PER_SECOND),
        latest_time: String(endMs / MS_PER_SECOND),
      },
    }),
    read: ({ size }) => readRows(messageField, size),
    maxPageLines: Infinity,
    textField: `the field ${messageField}`,
  }
}

function searchOf(
  { query, scope, filters = [], index: named, messageField }: LinesQuery,
  index: string | undefined,
): string {
  const namedIndex = named ?? index
  for (const name of [messageField ?? '_raw', ...filters.map(({ field }) => field)]) {
    if (!FIELD.test(name)) throw invalid(`${name} cannot be the name of a field`)
  }
  if (namedIndex !== undefined && !INDEX.test(namedIndex))
    throw invalid(`${namedIndex} cannot be the name of an index`)
  const filling = new Filling(scope)
  const filled = filling.finish(fillMacros(query.trim().replace(/^search\s+/, ''), filling))
  const first = namedIndex === undefined || /\bindex\s*=/.test(filled) ? '' : `index="${namedIndex}" `
  const whole = filled.startsWith('|') ? filled : `search ${first}${filled === '' ? '*' : filled}`
  return [whole, ...filters.map(condition)].join(' | search ')
}

/** Backquotes enclose the name of a macro with its arguments, where no value can be escaped. */
function fillMacros(template: string, filling: Filling): string {
  return template
    .split(/(`[^`]*`?)/)
    .map((part) =>
      part.startsWith('`') ? filling.fill(part, NOWHERE) : fillQuotedText(part, filling, WITHOUT_WILDCARDS),
    )
    .join('')
}

function condition({ field, value, match }: LineFilter): string {
  const escaped = WITHOUT_WILDCARDS.escape(value)
  if (escaped === undefined) {
    throw invalid(
      `events cannot be filtered by ${field}: ${value}: "*" and control characters are not possible`,
    )
  }
  const name = /^[\w.:]+$/.test(field) ? field : `"${field}"`
  return `${name}="${escaped}${match === 'prefix' ? '*' : ''}"`
}

/** Includes rows of a search that is still running. Messages about it have lines of their own. */
function readRows(messageField: string, size: number): ReadAnswer<LinesPage | string> {
  const lines: ServedLine[] = []
  const gaps = new BoundedRemarks()
  let refusal: string | undefined
  let isOther = false
  const add = (raw: unknown): void => {
    const row = Row.safeParse(raw).data
    if (row === undefined) isOther = true
    for (const { type, text } of row?.messages ?? []) {
      if (type === 'FATAL' || type === 'ERROR') refusal ??= text
      else if (type === 'WARN') gaps.add(`the server warns: ${text}`)
    }
    if (row?.result !== undefined && row.preview !== true) lines.push(toLine(row.result, messageField))
  }
  return {
    arrays: { take: (rows) => rows.forEach(add) },
    isByLine: true,
    end: () => {
      if (isOther) return 'the answer is not the JSON of an exported search'
      if (refusal !== undefined && lines.length === 0) return `the search was refused: ${refusal}`
      if (refusal !== undefined) gaps.add(`the search broke off: ${refusal}`)
      const tooMany = `the window has ${size} events or more, and one answer holds no more: raise maxLines or maxResponseBytes, or narrow the query`
      return { lines, gaps: gaps.list(), ...(lines.length >= size && { brokenOff: tooMany }) }
    },
  }
}

function toLine(result: Readonly<Record<string, unknown>>, messageField: string): ServedLine {
  const [seconds, text] = [result[TIME], result[messageField]]
  return {
    atMs: Math.round((readNumber(seconds) ?? Number.NaN) * MS_PER_SECOND),
    text: typeof text === 'string' ? describeLine(text) : undefined,
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_query' })
}
