import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { startTestServer } from '../../support/http-transports.js'
import { waitUntil } from '../../support/wait-until.js'

const ANSWER_BYTES = 8_000_000
const REQUEST = 'POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'

/** Sends one request and reads nothing. */
function askWithoutReading(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(REQUEST)
  return socket
}

test('large answers that nobody reads hold a bounded amount of memory: the connection that waited longest is ended', async () => {
  const server = await startTestServer({
    answerBody: Buffer.alloc(ANSWER_BYTES, 'x'),
    maxUnreadBytes: 3 * ANSWER_BYTES,
  })
  const sockets: Socket[] = []
  for (let count = 1; count <= 6; count += 1) {
    sockets.push(askWithoutReading(server.port))
    await waitUntil(
      () => (server.arrivals.length === count ? true : undefined),
      () => 'the request did not arrive',
    )
    await waitUntil(
      () => (server.unreadBytes() > 0 ? true : undefined),
      () => 'no answer is held',
    )
    expect(server.unreadBytes()).toBeLessThanOrEqual(3 * ANSWER_BYTES)
  }
  // The last response can be read.
  let read = 0
  const [last] = sockets.slice(-1)
  last!.on('data', (chunk: Buffer) => (read += chunk.length))
  last!.resume()
  await waitUntil(
    () => (read > ANSWER_BYTES ? true : undefined),
    () => `only ${read} bytes came`,
  )
  for (const socket of sockets) socket.destroy()
  await waitUntil(
    () => (server.unreadBytes() === 0 ? true : undefined),
    () => 'what was read or cut is still held',
  )
  await server.close()
})
