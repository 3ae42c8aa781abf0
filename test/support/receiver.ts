import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitUntil } from './wait-until.js'

/** A request as the receiver got it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real server on loopback that callbacks go to. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Waits until this many requests have arrived. */
  readonly count: (requests: number) => Promise<Received[]>
  readonly close: () => Promise<void>
}

/**
 * Starts a receiver; `answer` is given each request's place, from 0, and may leave the response
 * open.
 */
export async function startReceiver(
  answer: (response: ServerResponse, place: number, request: Received) => void = (response) => response.end(),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const got = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }
      received.push(got)
      answer(response, received.length - 1, got)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    count: (requests) =>
      waitUntil(
        () => (received.length >= requests ? received : undefined),
        () => `${received.length} of ${requests} requests came`,
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
