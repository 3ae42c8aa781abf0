import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { byteStream } from '../../../src/http/pipeline/byte-stream.js'
import { untilQuiet } from '../../support/until-quiet.js'
import { waitUntil } from '../../support/wait-until.js'

const CHUNK = new Uint8Array(1024 * 1024)
/** More than the sockets of one connection can buffer. */
const MANY = 64

let server: Server
let made: number
let isEnded: boolean
let isBroken: boolean
let ends: { count: number }

async function* endless(): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      made += 1
      if (isBroken && made > 3) throw new Error('the store is gone')
      yield await Promise.resolve(CHUNK)
    }
  } finally {
    isEnded = true
  }
}

beforeEach(async () => {
  made = 0
  isEnded = false
  isBroken = false
  const own = { count: 0 }
  ends = own
  server = createServer((request, response) => {
    const ended = (): void => {
      own.count += 1
    }
    const body = byteStream(endless(), { failed: () => response.destroy(), ended })
    void getRequestListener(() => new Response(body))(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A client that sends a request and reads only the first bytes of the response. */
async function askAndStop(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: tidegate\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return socket
}

describe('a body that is made while it is sent', () => {
  it('is made no faster than its reader takes it', async () => {
    const socket = await askAndStop()
    const stopped = await untilQuiet(() => made)
    expect(stopped).toBeLessThan(MANY)
    socket.resume()
    await waitUntil(
      () => (made > stopped + MANY ? true : undefined),
      () => 'it does not go on',
    )
    socket.destroy()
  })

  it('is made no further when its reader goes away', async () => {
    const socket = await askAndStop()
    socket.destroy()
    await waitUntil(
      () => (isEnded ? true : undefined),
      () => `it is still made: ${made} chunks`,
    )
    expect(made).toBeLessThan(MANY)
  })

  it('breaks the connection off when it cannot be made to its end', async () => {
    isBroken = true
    const socket = await askAndStop()
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    socket.resume()
    await closed
    // The last chunk of a complete body has no length.
    expect(Buffer.concat(chunks).toString('latin1').endsWith('0\r\n\r\n')).toBe(false)
    expect(ends.count).toBe(1)
  })
})
