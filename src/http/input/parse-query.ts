import type { z } from 'zod'

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
