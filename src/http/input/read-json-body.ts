import type { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { locateValue } from '../../lib/json/scan/locate-value.js'
import { replaceLoneSurrogates } from '../../lib/json/text/lone-surrogates.js'
import { holdsMoreValues } from '../../lib/json/scan/nesting.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import type { Exchange } from '../exchange/exchange.js'
import { decodeBody, readBody, requireJsonType } from './read-body.js'
import { withLimitMessage } from '../exchange/body-errors.js'

const BODY = { name: 'the body', code: 'invalid_field' }
/** What `JSON.parse` and `JSON.stringify` take without coming near the end of the stack. */
const MAX_DEPTH = 1000
/** What is parsed while decisions wait. The triggers of gates, which are the longest, come to a hundredth of it. */
const MAX_PARSED_BYTES = 1024 * 1024
const MAX_PARSED_VALUES = 20_000

/** A body that was parsed, with the bytes that it was parsed from. */
export interface ParsedBody<T> {
  readonly bytes: Uint8Array
  readonly body: T
}

/**
 * The body of a request, as `parseJsonBody` takes it, as its schema reads it. Raises `invalid` with a sentence for each field
 * that is missing or wrong, beside the errors of `readJsonBytes`.
 */
export async function readJsonBody<S extends z.ZodType>(
  exchange: Exchange,
  schema: S,
  limit: number,
): Promise<z.output<S>> {
  return (await parseJsonBody(exchange, schema, limit)).body
}

/**
 * The same with its bytes. It has at most 1 MiB, however much `limit` is, and 20,000 values: parsing more would hold up decisions.
 */
export async function parseJsonBody<S extends z.ZodType>(
  exchange: Exchange,
  schema: S,
  limit: number,
): Promise<ParsedBody<z.output<S>>> {
  const max = Math.min(limit, MAX_PARSED_BYTES)
  const bytes = await withLimitMessage(
    readJsonText(exchange, max),
    `the body is over the limit of ${max} bytes`,
  )
  const text = Buffer.from(bytes).toString()
  if (holdsMoreValues(text, MAX_PARSED_VALUES)) {
    throw new AppError('invalid', `the body holds more than ${MAX_PARSED_VALUES} values`)
  }
  return { bytes, body: readBySchema(schema, JSON.parse(text), BODY) }
}

/**
 * The same as `readJsonBytes`, with U+FFFD for escapes that stand for no character: a text with half a pair can be written neither
 * into a URL nor as UTF-8, and would come out of a store as another than went in.
 */
export async function readJsonText(exchange: Exchange, limit: number): Promise<Uint8Array> {
  return replaceLoneSurrogates(await readJsonBytes(exchange, limit))
}

/**
 * The body of a request as UTF-8 bytes of exactly one JSON value, of at most 1000 levels. Raises `unsupported_media_type` where
 * the request does not say JSON, `too_large` above `limit` bytes, `invalid` for what is no JSON.
 */
export async function readJsonBytes(exchange: Exchange, limit: number): Promise<Uint8Array> {
  requireJsonType(exchange)
  return checkedJson(await readBody(exchange, limit))
}

/** The same for a body that is there already, as it was sent. */
export async function readSentJson(exchange: Exchange, sent: Buffer, limit: number): Promise<Uint8Array> {
  requireJsonType(exchange)
  return checkedJson(await decodeBody(exchange, sent, limit))
}

/** Raises `invalid` for what is no JSON. */
function checkedJson(bytes: Uint8Array): Uint8Array {
  try {
    locateValue(bytes, MAX_DEPTH)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const reason = scanSpace(bytes, 0) === bytes.length ? 'it is empty' : cause.message
    throw new AppError('invalid', `the body is not valid JSON: ${reason}`, { code: 'invalid_json', cause })
  }
  return bytes
}
