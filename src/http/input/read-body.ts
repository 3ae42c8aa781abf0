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
/** In bytes. */
const LOOKED_THROUGH = 1000

/**
 * The whole body of a request as UTF-8 bytes: gunzipped when it says so, ISO-8859-1 read where it is no UTF-8. Raises
 * `too_large` over `limit` bytes (counted after unpacking), `invalid` for a body that is not what its encoding says, `unavailable` where too many requests wait.
 */
export async function readBody(exchange: Exchange, limit: number): Promise<Uint8Array> {
  return decodeBody(exchange, await exchange.readBytes(limit), limit)
}

/** The same for bytes that are there already. */
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

/** No JSON or YAML has one; what is packed does within a few bytes. */
function isControl(byte: number): boolean {
  return byte < SPACE && !WHITE.includes(byte)
}

/** Not for its Content-Encoding alone: text is read as OPA reads it, whatever it is called. */
function packedOtherwise(): AppError {
  return new AppError(
    'invalid',
    'could not read the body: its Content-Encoding is none that is read here; send it as gzip, or as it is',
  )
}

async function unpack(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: limit })
  } catch (cause) {
    if (cause instanceof RangeError) throw bodyTooLarge(limit)
    throw new AppError(
      'invalid',
      'could not decompress the body: it is not gzip, as its Content-Encoding says',
      { cause },
    )
  }
}

const JSON_MEDIA_TYPE = /^\s*application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i

/** Raises `unsupported_media_type` unless the request says that its body is JSON. */
export function requireJsonType(exchange: Exchange): void {
  const type = exchange.header('content-type')
  if (type !== undefined && JSON_MEDIA_TYPE.test(type)) return
  const got = type === undefined ? 'the request has none' : `got ${type}`
  throw new AppError('unsupported_media_type', `this operation needs Content-Type: application/json; ${got}`)
}
