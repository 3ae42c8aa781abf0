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
/** Maximum nesting; `JSON.parse` and `JSON.stringify` handle it without a stack overflow. */
const MAX_DEPTH = 1000
/**
 * Limits of parsed bodies, since parsing blocks decisions. The largest gate triggers reach a
 * hundredth of them.
 */
const MAX_PARSED_BYTES = 1024 * 1024
const MAX_PARSED_VALUES = 20_000

/** A parsed body and its bytes. */
export interface ParsedBody<T> {
  readonly bytes: Uint8Array
  readonly body: T
}

/**
 * Reads the body by a schema, with the limits of `parseJsonBody`. Raises the errors of
 * `readJsonBytes`, and `invalid` with a message for each wrong field.
 */
export async function readJsonBody<S extends z.ZodType>(
  exchange: Exchange,
  schema: S,
  limit: number,
): Promise<z.output<S>> {
  return (await parseJsonBody(exchange, schema, limit)).body
}

/**
 * Reads the body by a schema and returns its bytes, too. It may have at most 1 MiB and 20,000
 * values whatever `limit` is, since parsing blocks decisions.
 */
export async function parseJsonBody<S extends z.ZodType>(
  exchange: Exchange,
  schema: S,
  limit: number,
): Promise<ParsedBody<z.output<S>>> {
  const max = Math.min(limit, MAX_PARSED_BYTES)
  const bytes = await withLimitMessage(readJsonText(exchange, max), `the body exceeds ${max} bytes`)
  return { bytes, body: readBySchema(schema, JSON.parse(checkParsable(bytes)), BODY) }
}

/**
 * Returns JSON as a string if it is small enough to be parsed while decisions wait. Raises
 * `too_large` over 1 MiB, and `invalid` over 20,000 values.
 */
export function checkParsable(bytes: Uint8Array): string {
  if (bytes.length > MAX_PARSED_BYTES)
    throw new AppError('too_large', `the body exceeds ${MAX_PARSED_BYTES} bytes`)
  const text = Buffer.from(bytes).toString()
  if (holdsMoreValues(text, MAX_PARSED_VALUES)) {
    throw new AppError('invalid', `the body contains more than ${MAX_PARSED_VALUES} values`)
  }
  return text
}

/**
 * Reads the body like `readJsonBytes` and replaces lone surrogate escapes by U+FFFD. They cannot be
 * written as UTF-8 or into a URL, so a store would change them.
 */
export async function readJsonText(exchange: Exchange, limit: number): Promise<Uint8Array> {
  return replaceLoneSurrogates(await readJsonBytes(exchange, limit))
}

/**
 * Reads the body as UTF-8 that contains exactly one JSON value of at most 1000 levels. Raises
 * `unsupported_media_type` if Content-Type is not JSON, `too_large` over `limit` bytes, and
 * `invalid` for malformed JSON.
 */
export async function readJsonBytes(exchange: Exchange, limit: number): Promise<Uint8Array> {
  requireJsonType(exchange)
  return checkedJson(await readBody(exchange, limit))
}

/** Decodes and checks a body that was already read, like `readJsonBytes`. */
export async function readSentJson(exchange: Exchange, sent: Buffer, limit: number): Promise<Uint8Array> {
  requireJsonType(exchange)
  return checkedJson(await decodeBody(exchange, sent, limit))
}

/** Returns the bytes if they are one JSON value. Raises `invalid` otherwise. */
export function checkedJson(bytes: Uint8Array): Uint8Array {
  try {
    locateValue(bytes, MAX_DEPTH)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const reason = scanSpace(bytes, 0) === bytes.length ? 'it is empty' : cause.message
    throw new AppError('invalid', `the body is not valid JSON: ${reason}`, { code: 'invalid_json', cause })
  }
  return bytes
}
