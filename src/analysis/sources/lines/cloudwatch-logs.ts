import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { describeLine } from '../../../canary/index.js'
import type { LineFilter, LinesQuery } from '../../sources.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { WITHOUT_WILDCARDS, fillQuotedText } from '../templates/fill-quoted-text.js'
import { Filling } from '../templates/filling.js'
import { wholeWindow } from './lines-api.js'
import type { LinesApi, LinesPage, ServedLine } from './lines-api.js'

/** Names the operation in the JSON protocol of the service. */
const TARGET = 'Logs_20140328.FilterLogEvents'
const MAX_EVENTS = 10_000
/** Filters by the stream of an event, not by its content. */
const STREAM_FIELDS: readonly string[] = ['logStreamName', '@logStream', 'logStream']
const LOG_GROUP = /^[\w./#-]{1,512}$/
/** The identifier of a log group of another account. */
const LOG_GROUP_ARN = /^arn:[\w:./#*-]{1,2000}$/
const FIELD = /^[\w.@-]+$/

const Answer = z.object({ events: z.array(z.unknown()).optional(), nextToken: z.string().nullish() })
const Event = z.object({ timestamp: z.number(), message: z.string() })

/**
 * `FilterLogEvents` of CloudWatch Logs: all events of a log group that match a filter pattern, in
 * pages and in order of time. Queries of Logs Insights would end after 10,000 events, are billed by
 * scanned bytes, and cannot be paged. Raises `invalid` without a log group, and for invalid
 * patterns or filters.
 */
export function cloudWatchLogsApi(query: LinesQuery, index: string | undefined): LinesApi {
  const { startMs, endMs } = wholeWindow(query)
  const request = { ...groupOf(query.index ?? index), ...streamsOf(query), ...patternOf(query) }
  const { messageField } = query
  return {
    text: JSON.stringify(request),
    request: ({ size, page }) => ({
      method: 'POST',
      path: '/',
      headers: { 'x-amz-target': TARGET },
      contentType: 'application/x-amz-json-1.1',
      // Its end is part of the window.
      json: {
        ...request,
        ...{ startTime: startMs, endTime: endMs - 1, limit: size },
        ...(page !== undefined && { nextToken: page }),
      },
    }),
    read: ({ size }) => readEvents(size, messageField),
    maxPageLines: MAX_EVENTS,
    textField: `the field ${messageField ?? 'message'}`,
  }
}

function groupOf(group: string | undefined): object {
  if (group === undefined) {
    throw invalid('no log group to search: name it as the index of the log template or of the source')
  }
  if (LOG_GROUP_ARN.test(group)) return { logGroupIdentifier: group }
  if (LOG_GROUP.test(group)) return { logGroupName: group }
  throw invalid(`the index ${JSON.stringify(group)} cannot be the name of a log group`)
}

function streamsOf({ filters = [] }: LinesQuery): object {
  const [stream, ...others] = filters.filter(isOfStream)
  if (others.length > 0) throw invalid('events can be filtered by one name of a stream only')
  if (stream === undefined) return {}
  return stream.match === 'exact' ? { logStreamNames: [stream.value] } : { logStreamNamePrefix: stream.value }
}

function isOfStream({ field }: LineFilter): boolean {
  return STREAM_FIELDS.includes(field)
}

/** Filters by content need a pattern for JSON, which cannot be combined with a pattern of words. */
function patternOf({ query, scope, filters = [] }: LinesQuery): object {
  const template = query.trim() === '*' ? '' : query.trim()
  const filling = new Filling(scope)
  const filled = filling.finish(fillQuotedText(template, filling, WITHOUT_WILDCARDS))
  const conditions = filters.filter((filter) => !isOfStream(filter)).map(condition)
  if (conditions.length === 0) return filled === '' ? {} : { filterPattern: filled }
  const own = /^\{(?<inner>[\s\S]*)\}$/.exec(filled)?.groups?.['inner']?.trim()
  if (filled !== '' && own === undefined) {
    throw invalid(
      `the filterKey ${filters[0]?.field ?? ''} needs a pattern for JSON, such as { $.level = "ERROR" }: write the query as one, or filter by logStreamName`,
    )
  }
  const all = own === undefined ? conditions : [`(${own})`, ...conditions]
  return { filterPattern: `{ ${all.join(' && ')} }` }
}

function condition({ field, value, match }: LineFilter): string {
  const escaped = WITHOUT_WILDCARDS.escape(value)
  if (!FIELD.test(field) || escaped === undefined) {
    throw invalid(
      `events cannot be filtered by ${field}: ${value}: "*" and control characters are not possible`,
    )
  }
  return `($.${field} = "${escaped}${match === 'prefix' ? '*' : ''}")`
}

function readEvents(size: number, messageField: string | undefined): ReadAnswer<LinesPage | string> {
  const lines: ServedLine[] = []
  let isOther = false
  const add = (raw: unknown): void => {
    const event = Event.safeParse(raw).data
    if (event === undefined) isOther = true
    else if (lines.length < size) {
      lines.push({ atMs: event.timestamp, text: describeLine(event.message.trimEnd(), messageField) })
    }
  }
  return {
    arrays: { members: { events: { take: (events) => events.forEach(add) } } },
    end: (rest) => {
      const answer = Answer.safeParse(rest)
      if (!answer.success || isOther || answer.data.events === undefined) {
        return 'the answer is not the JSON of FilterLogEvents'
      }
      return { lines, nextPage: answer.data.nextToken ?? undefined }
    },
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_query' })
}
