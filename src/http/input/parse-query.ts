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

/** A moment as a person or a program writes it, in milliseconds since the epoch; a time that names no zone is in UTC. */
export const Moment = z
  .string()
  .transform((text) =>
    /^\d+$/.test(text) ? Number(text) : DateTime.fromISO(text, { zone: 'utc' }).toMillis(),
  )
  .refine((ms) => Number.isFinite(ms), 'must be an ISO 8601 time or milliseconds since the epoch')
