import type { Dispatcher } from 'undici'

import { CollectedBytes } from '../collected-bytes.js'

/** The body exceeds the limit. */
export class BodyTooLarge extends Error {}

/** Receives a body in pieces. The next piece waits until the promise resolves. */
export type TakeChunk = (chunk: Buffer) => void | Promise<void>

/**
 * Reads the whole body of a response. Returns nothing if `take` receives it. Throws `BodyTooLarge`
 * and drops the connection when the limit is exceeded.
 */
export async function readBody(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  take?: TakeChunk,
): Promise<Buffer> {
  const collected = new CollectedBytes()
  let length = 0
  const isAnnounced = Number(headers['content-length'] ?? 0) > maxBytes
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    // Leaving the loop destroys the stream.
    if (isAnnounced || length > maxBytes) throw new BodyTooLarge()
    if (take === undefined) collected.add(chunk)
    else await take(chunk)
  }
  return collected.take()
}

/** Reads the start of the body of a response. Drops the connection if there is more. */
export async function readStart({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const collected = new CollectedBytes()
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const remainingBytes = maxBytes - collected.length
    collected.add(chunk.subarray(0, remainingBytes))
    if (chunk.length > remainingBytes) break
  }
  return collected.take()
}
