import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { AppError } from '../errors.js'
import { toUtf8 } from '../lib/json/decode-text.js'

const gunzipAsync = promisify(gunzip)
const EMPTY = Buffer.alloc(0)

/**
 * The whole body of a request as UTF-8 bytes: gunzipped when it says so, ISO-8859-1 read where it is no UTF-8. Raises
 * `too_large` over `limit` bytes (counted after unpacking), `invalid` for a body that is not what its encoding says.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const bytes = await readBytes(request, limit)
  const isGzip = request.headers['content-encoding']?.includes('gzip') === true
  return toUtf8(isGzip ? await unpack(bytes, limit) : bytes)
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit) chunks.push(chunk)
      else {
        // Taking the rest in and dropping it would let a caller hold us for ever.
        request.removeAllListeners('data').resume()
        reject(tooLarge(limit))
      }
    })
    request.on('end', () => resolve(joinChunks(chunks)))
    // An error is also what a connection that breaks off amounts to.
    request.on('error', (cause) =>
      reject(new AppError('invalid', 'the request ended before its body did', { cause })),
    )
  })
}

function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  if (first === undefined) return EMPTY
  return chunks.length === 1 ? first : Buffer.concat(chunks)
}

async function unpack(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: limit })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(limit)
    throw new AppError(
      'invalid',
      'could not decompress the body: it is not gzip, as its Content-Encoding says',
      {
        cause,
      },
    )
  }
}

function tooLarge(limit: number): AppError {
  return new AppError(
    'too_large',
    `the request body is over the limit of ${limit} bytes (server.maxBodyBytes)`,
  )
}
