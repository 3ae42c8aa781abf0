import { z } from 'zod'

import { redactWords } from '../../../lib/redaction/redact-text.js'

const MAX_SHOWN = 300

/** `{status: "error", errorType, error}`: Prometheus, and Loki in places. */
const RangeError = z.object({ errorType: z.string().optional(), error: z.string() })
/** `{error: {type, reason, root_cause}, status}`: Elasticsearch and OpenSearch. */
const SearchError = z.object({
  error: z.object({
    type: z.string().optional(),
    reason: z.string().nullish(),
    root_cause: z.array(z.object({ reason: z.string().nullish() })).optional(),
  }),
})
const Message = z.object({ message: z.string() })

/** What a server said when it refused, as the end of a sentence: one line of bounded length. */
export function describeRefusal(status: number, body: Buffer): string {
  const said = shorten(meaningOf(body.subarray(0, 64 * 1024).toString()))
  return said === '' ? `answered ${status}${hint(status)}` : `answered ${status}${hint(status)}: ${said}`
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ' (see its credentials)'
  if (status === 429) return ' (too many requests)'
  return status >= 300 && status < 400 ? ' (redirects are not followed: configure the final URL)' : ''
}

function meaningOf(text: string): string {
  if (/^\s*<(?:!doctype|html)/i.test(text)) return 'an HTML page, as a proxy or a login form gives'
  const json = tryParse(text)
  const range = RangeError.safeParse(json)
  if (range.success) return [range.data.errorType, range.data.error].filter(Boolean).join(': ')
  const search = SearchError.safeParse(json)
  if (search.success) return describeSearchError(search.data.error)
  const message = Message.safeParse(json)
  return message.success ? message.data.message : text
}

function describeSearchError(error: z.output<typeof SearchError>['error']): string {
  const causes = (error.root_cause ?? []).flatMap(({ reason }) => reason ?? [])
  return [error.type, causes[0] ?? error.reason].filter(Boolean).join(': ')
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One line, without characters that would act on a terminal, and without secrets: servers repeat what they were asked. */
export function shorten(text: string): string {
  const line = redactWords(text)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
