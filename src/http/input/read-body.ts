import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { AppError } from '../../errors/app-error.js'
import { toUtf8 } from '../../lib/json/scan/decode-string.js'
import { whenThere } from '../../lib/when-there.js'
import { bodyTooLarge } from '../exchange/body-errors.js'
import type { Exchange } from '../exchange/exchange.js'
import { LargeBodyTurns } from './large-body-turns.js'

const gunzipAsync = promisify(gunzip)
/** There is one event loop to take turns in. */
const TURNS = new LargeBodyTurns()
const SPACE = 0x20
/** Tab, line feed and carriage return. */
const WHITE: readonly number[] = [0x09, 0x0a, 0x0d]
/** In bytes. */
const LOOKED_THROUGH = 1000

/**
 * The whole body of a request as UTF-8 bytes: gunzipped when it says so, ISO-8859-1 read where it is no UTF-8. Raises
 * `too_large` over `limit` bytes (counted after unpacking), `invalid` for a body that is not what its encoding says, `unavailable` where too many large
 * ones wait. There at once where all of it has come and nothing holds it up: a promise costs a small decision a twentieth of its time.
 */
export function readBody(exchange: Exchange, limit: number): Uint8Array | Promise<Uint8Array> {
  return whenThere(exchange.readBytes(limit), (bytes) => decodeBody(exchange, bytes, limit))
}

/** The same for bytes that are there already. */
export function decodeBody(
  exchange: Exchange,
  bytes: Buffer,
  limit: number,
): Uint8Array | Promise<Uint8Array> {
  const encoding = exchange.header('content-encoding')?.toLowerCase()
  if (encoding === undefined) return inTurn(bytes)
  if (encoding.includes('gzip')) return unpack(bytes, limit).then(inTurn)
  if (bytes.subarray(0, LOOKED_THROUGH).some(isControl)) throw packedOtherwise()
  return inTurn(bytes)
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

function inTurn(body: Buffer): Uint8Array | Promise<Uint8Array> {
  const turn = TURNS.take(body.length)
  return turn === undefined ? toUtf8(body) : turn.then(() => toUtf8(body))
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
