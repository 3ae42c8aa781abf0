import type { z } from 'zod'

import { readBySchema } from '../../lib/validation/read-by-schema.js'

const QUERY = { name: 'the query', code: 'invalid_parameter' }

/**
 * Parses query parameters by a schema. Raises `invalid` with a message for each wrong parameter. A
 * `z.strictObject` rejects unknown parameters by name.
 */
export function parseQuery<S extends z.ZodType>(
  schema: S,
  raw: Readonly<Record<string, string>>,
): z.output<S> {
  return readBySchema(schema, raw, QUERY)
}
