import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, it, afterEach, beforeEach } from 'vitest'
import { getRequestListener } from '@hono/node-server'

import { LimitedStreams, byteStream } from '../../../src/http/pipeline/limited-streams.js'
import { untilQuiet } from '../../support/until-quiet.js'
import { waitUntil } from '../../support/wait-until.js'

async function* chunks(count: number): AsyncGenerator<Uint8Array, void> {
  for (let n = 0; n < count; n += 1) yield await Promise.resolve(new Uint8Array(10))
}

async function* failing(error: Error): AsyncGenerator<Uint8Array, void> {
  yield await Promise.reject(error)
}

const failed = (): void => undefined

describe('streams that are limited in number', () => {
  it('are refused beyond it, and taken again when one has ended or its reader has gone', async () => {
    const streams = new LimitedStreams(2, 'exports')
    const whole = await streams.start(chunks(3), failed)
    const left = await streams.start(chunks(3), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow(
      '2 exports are already running; retry later',
    )
    expect((await new Response(whole).arrayBuffer()).byteLength).toBe(30)
    const third = await streams.start(chunks(1), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow('already running')
    await left.cancel()
    await third.cancel()
    await streams.start(chunks(1), failed)
    await streams.start(chunks(1), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow('already running')
  })

  it('raise what happens before anything of them is there, and make room again', async () => {
    const streams = new LimitedStreams(1, 'exports')
    const away = new Error('the database is away')
    await expect(streams.start(failing(away), failed)).rejects.toBe(away)
    const whole = await streams.start(chunks(2), failed)
    expect((await new Response(whole).arrayBuffer()).byteLength).toBe(20)
  })

  it('are empty where there is nothing', async () => {
    const none = await new LimitedStreams(1, 'exports').start(chunks(0), failed)
    expect((await new Response(none).arrayBuffer()).byteLength).toBe(0)
  })
})

const CHUNK = new Uint8Array(1024 * 1024)
/** Exceeds the socket buffers of a connection. */
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

/** A client that reads only the first bytes of a response. */
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
    // The last chunk of a complete body is empty.
    expect(Buffer.concat(chunks).toString('latin1').endsWith('0\r\n\r\n')).toBe(false)
    expect(ends.count).toBe(1)
  })
})
