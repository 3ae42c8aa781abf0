import type { Dispatcher } from 'undici'

import { CollectedBytes } from '../collected-bytes.js'

/** More came than the caller takes. */
export class BodyTooLarge extends Error {}

/** Takes a body piece by piece; the next piece waits until this one is done with. */
export type TakeChunk = (chunk: Buffer) => void | Promise<void>

/**
 * The whole body of a response, or nothing where `take` was given all of it; raises `BodyTooLarge`, and drops the connection, as
 * soon as it is known to exceed the limit.
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

/** The start of the body of a response; the connection is dropped where there is more of it. */
export async function readStart({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const collected = new CollectedBytes()
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const room = maxBytes - collected.length
    collected.add(chunk.subarray(0, room))
    if (chunk.length > room) break
  }
  return collected.take()
}
