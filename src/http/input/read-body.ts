import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { AppError } from '../../errors/app-error.js'
import { toUtf8 } from '../../lib/json/scan/decode-string.js'
import { bodyTooLarge } from '../exchange/body-errors.js'
import type { Exchange } from '../exchange/exchange.js'

const gunzipAsync = promisify(gunzip)
const SPACE = 0x20
/** Tab, line feed and carriage return. */
const WHITE: readonly number[] = [0x09, 0x0a, 0x0d]
/** Number of leading bytes that are checked for control characters. */
const LOOKED_THROUGH = 1000

/**
 * Reads the body as UTF-8: gunzips it if its encoding is gzip, and decodes it as ISO-8859-1 if it
 * is not UTF-8. Raises `too_large` over `limit` bytes (counted after decompression), `invalid` if
 * the body does not match its encoding, and `unavailable` if too many requests wait.
 */
export async function readBody(exchange: Exchange, limit: number): Promise<Uint8Array> {
  return decodeBody(exchange, await exchange.readBytes(limit), limit)
}

/** Decodes a body that was already read, like `readBody`. */
export async function decodeBody(exchange: Exchange, bytes: Buffer, limit: number): Promise<Uint8Array> {
  const encoding = exchange.header('content-encoding')?.toLowerCase()
  if (encoding === undefined) return toUtf8(bytes)
  if (encoding.includes('gzip')) {
    const unpacked = await unpack(bytes, limit)
    await exchange.takeTurn(unpacked.length)
    return toUtf8(unpacked)
  }
  if (bytes.subarray(0, LOOKED_THROUGH).some(isControl)) throw packedOtherwise()
  return toUtf8(bytes)
}

/** JSON and YAML contain no control characters; compressed data does within a few bytes. */
function isControl(byte: number): boolean {
  return byte < SPACE && !WHITE.includes(byte)
}

/**
 * Content-Encoding alone does not reject a body: OPA also accepts plain text with a wrong encoding.
 */
function packedOtherwise(): AppError {
  return new AppError(
    'invalid',
    'cannot read the body: its Content-Encoding is not supported; use gzip or none',
  )
}

async function unpack(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: limit })
  } catch (cause) {
    if (cause instanceof RangeError) throw bodyTooLarge(limit)
    throw new AppError(
      'invalid',
      'cannot decompress the body: it is not gzip, although its Content-Encoding says so',
      { cause },
    )
  }
}

const JSON_MEDIA_TYPE = /^\s*application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i

/** Raises `unsupported_media_type` unless Content-Type is JSON. */
export function requireJsonType(exchange: Exchange): void {
  const type = exchange.header('content-type')
  if (type !== undefined && JSON_MEDIA_TYPE.test(type)) return
  const got = type === undefined ? 'it is missing' : `got ${type}`
  throw new AppError('unsupported_media_type', `Content-Type must be application/json; ${got}`)
}
