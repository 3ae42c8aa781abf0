import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { describeRecord } from '../../../canary/index.js'
import type { LineFilter, LinesQuery } from '../../sources.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { fillSearchText } from '../templates/fill-search-text.js'
import { Filling } from '../templates/filling.js'
import { LUCENE_PHRASE, LUCENE_WORD } from '../templates/escape-contexts.js'
import { wholeWindow } from './lines-api.js'
import type { LinesApi, LinesPage, ServedLine } from './lines-api.js'

const MAX_EVENTS = 1000
const FIELD = /^@?[\w./-]+$/

const Answer = z.object({
  data: z.array(z.unknown()),
  meta: z
    .object({
      status: z.string().optional(),
      page: z.object({ after: z.string().nullish() }).optional(),
      warnings: z.array(z.object({ title: z.string().optional(), detail: z.string().optional() })).optional(),
    })
    .nullish(),
})
const Event = z.object({
  attributes: z.looseObject({
    timestamp: z.string(),
    message: z.unknown().optional(),
    status: z.unknown().optional(),
    attributes: z.record(z.string(), z.unknown()).nullish(),
  }),
})

/**
 * Datadog's search of log events, version 2: events by a query of its log search, in pages by
 * cursor and in order of time. Raises `invalid` for an invalid query or filter.
 */
export function datadogLogsApi(query: LinesQuery, index: string | undefined): LinesApi {
  const { startMs, endMs } = wholeWindow(query)
  const indexName = query.index ?? index
  const filter = { query: searchOf(query), ...(indexName !== undefined && { indexes: [indexName] }) }
  const { messageField } = query
  return {
    text: JSON.stringify(filter),
    request: ({ size, page }) => ({
      method: 'POST',
      path: '/api/v2/logs/events/search',
      json: {
        filter: { ...filter, from: String(startMs), to: String(endMs) },
        sort: 'timestamp',
        page: { limit: size, ...(page !== undefined && { cursor: page }) },
      },
    }),
    read: ({ size }) => readEvents(size, messageField),
    maxPageLines: MAX_EVENTS,
    textField: `the field ${messageField ?? 'message'}`,
  }
}

function searchOf({ query, scope, filters = [] }: LinesQuery): string {
  const filling = new Filling(scope)
  const filled = filling.finish(fillSearchText(query.trim(), filling))
  const conditions = filters.map(condition)
  if (filled === '' || filled === '*') return conditions.length === 0 ? '*' : conditions.join(' ')
  return conditions.length === 0 ? filled : [`(${filled})`, ...conditions].join(' ')
}

function condition({ field, value, match }: LineFilter): string {
  const escaped =
    match === 'exact' ? `"${LUCENE_PHRASE.escape(value) ?? ''}"` : LUCENE_WORD.escape(value)?.concat('*')
  if (FIELD.test(field) && escaped !== undefined) return `${field}:${escaped}`
  throw new AppError('invalid', `log events cannot be filtered by ${field}: ${value}`, {
    code: 'invalid_query',
  })
}

function readEvents(size: number, messageField: string | undefined): ReadAnswer<LinesPage | string> {
  const lines: ServedLine[] = []
  let isOther = false
  const add = (raw: unknown): void => {
    const event = Event.safeParse(raw).data
    if (event === undefined) isOther = true
    else if (lines.length < size) lines.push(toLine(event, messageField))
  }
  return {
    arrays: { members: { data: { take: (events) => events.forEach(add) } } },
    end: (rest) => {
      const answer = Answer.safeParse(rest)
      if (!answer.success || isOther) return 'the answer is not the JSON of a search for log events'
      const { status, page, warnings = [] } = answer.data.meta ?? {}
      const messages = warnings.map(({ title = '', detail = '' }) =>
        `the server warns: ${title} ${detail}`.trim(),
      )
      const isLate = status === 'timeout'
      return {
        ...{ lines, nextPage: page?.after ?? undefined },
        gaps: [
          ...messages,
          ...(isLate ? ['the search ran out of time on the server: events are missing'] : []),
        ],
      }
    },
  }
}

/** The status is the level of an event. The program's own fields are in nested attributes. */
function toLine({ attributes: event }: z.output<typeof Event>, messageField: string | undefined): ServedLine {
  const { timestamp, message, status, attributes } = event
  const record = { ...attributes, message: message ?? attributes?.['message'], level: status }
  return { atMs: Date.parse(timestamp), text: describeRecord(record, messageField) }
}
