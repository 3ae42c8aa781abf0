import type { z } from 'zod'

import { AppError } from '../errors.js'
import { locateValue } from '../lib/json/locate-value.js'
import { scanSpace } from '../lib/json/scan-space.js'
import { readBySchema } from '../lib/read-by-schema.js'
import type { Exchange } from './exchange.js'
import { readBody } from './read-body.js'
import { requireJsonType } from './require-json-type.js'

const BODY = { name: 'the body', code: 'invalid_field' }
/** What `JSON.parse` and `JSON.stringify` take without coming near the end of the stack. */
const MAX_DEPTH = 1000

/**
 * The body of a request, as `readJsonBytes` takes it, as its schema reads it. Raises `invalid` with a sentence for each field
 * that is missing or wrong, beside the errors of `readJsonBytes`.
 */
export async function readJsonBody<S extends z.ZodType>(
  exchange: Exchange,
  schema: S,
  limit: number,
): Promise<z.output<S>> {
  const bytes = await readJsonBytes(exchange, limit)
  return readBySchema(schema, JSON.parse(Buffer.from(bytes).toString()), BODY)
}

/**
 * The body of a request as UTF-8 bytes of exactly one JSON value, of at most 1000 levels. Raises `unsupported_media_type` where
 * the request does not say JSON, `too_large` above `limit` bytes, `invalid` for what is no JSON.
 */
export async function readJsonBytes(exchange: Exchange, limit: number): Promise<Uint8Array> {
  requireJsonType(exchange)
  const bytes = await readBody(exchange, limit)
  try {
    locateValue(bytes, MAX_DEPTH)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const reason = scanSpace(bytes, 0) === bytes.length ? 'it is empty' : cause.message
    throw new AppError('invalid', `the body is not valid JSON: ${reason}`, { code: 'invalid_json', cause })
  }
  return bytes
}
