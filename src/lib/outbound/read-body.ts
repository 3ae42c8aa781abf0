import type { Dispatcher } from 'undici'

/** More came than the caller takes. */
export class BodyTooLarge extends Error {}

/** The whole body of a response; raises `BodyTooLarge`, and drops the connection, as soon as it is known to exceed the limit. */
export async function readBody(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  const isAnnounced = Number(headers['content-length'] ?? 0) > maxBytes
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    // Leaving the loop destroys the stream.
    if (isAnnounced || length > maxBytes) throw new BodyTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
