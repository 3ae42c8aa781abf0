import type { Dispatcher } from 'undici'

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
  const chunks: Buffer[] = []
  let length = 0
  const isAnnounced = Number(headers['content-length'] ?? 0) > maxBytes
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    // Leaving the loop destroys the stream.
    if (isAnnounced || length > maxBytes) throw new BodyTooLarge()
    if (take === undefined) chunks.push(chunk)
    else await take(chunk)
  }
  return Buffer.concat(chunks)
}

/** The start of the body of a response; the connection is dropped where there is more of it. */
export async function readStart({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - length))
    length += chunk.length
    if (length > maxBytes) break
  }
  return Buffer.concat(chunks)
}
