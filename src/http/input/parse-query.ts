import { DateTime } from 'luxon'
import { z } from 'zod'

import { readBySchema } from '../../lib/validation/read-by-schema.js'

const QUERY = { name: 'the query', code: 'invalid_parameter' }

/**
 * The query parameters of a request, such as `c.req.query()`, as their schema reads them. Raises `invalid` with a sentence
 * for each parameter that is wrong; a `z.strictObject` refuses unknown ones by name.
 */
export function parseQuery<S extends z.ZodType>(
  schema: S,
  raw: Readonly<Record<string, string>>,
): z.output<S> {
  return readBySchema(schema, raw, QUERY)
}

const NO_MOMENT = 'must be an ISO 8601 time or milliseconds since the epoch'
/** In 1973. A number below it is one of seconds, or a date or year without its dashes, and would mean a time in 1970. */
const LEAST_MS = 100_000_000_000

/**
 * A moment as a person or a program writes it, in milliseconds since the epoch; a time that names no zone is in UTC. A blank before
 * the offset is the plus that stood there: forms and URLs that were not escaped turn one into the other.
 */
export const Moment = z.string().transform((text, context) => {
  const isNumber = /^\d+$/.test(text)
  const ms = isNumber
    ? Number(text)
    : DateTime.fromISO(text.replace(/ (?=\d\d(?::?\d\d)?$)/, '+'), { zone: 'utc' }).toMillis()
  if (Number.isFinite(ms) && !(isNumber && ms > 0 && ms < LEAST_MS)) return ms
  context.addIssue({
    code: 'custom',
    message: isNumber ? `${NO_MOMENT}, and ${text} is too small for these` : NO_MOMENT,
  })
  return z.NEVER
})
