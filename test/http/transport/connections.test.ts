import { afterEach, describe, expect, it, vi } from 'vitest'

import type { Exchange } from '../../../src/http/exchange/exchange.js'
import { openRaw, sendRaw, startTestServer } from '../../support/http-transports.js'
import type { TestServer, TestServerOptions } from '../../support/http-transports.js'
import { waitUntil } from '../../support/wait-until.js'

const SECOND_MS = 1000

let server: TestServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
  vi.useRealTimers()
})

async function start(options: Partial<TestServerOptions> = {}): Promise<TestServer> {
  server = await startTestServer(options)
  return server
}

function request(body: string, length = body.length): string {
  return `POST /v1/data/app HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`
}

async function until(look: () => boolean): Promise<void> {
  await waitUntil(
    () => look() || undefined,
    () => `never: ${String(look)}`,
  )
}

/** A handler that responds on demand. */
function held(): { beforeAnswer: (exchange: Exchange) => Promise<void>; release: () => void } {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  return { beforeAnswer: () => released, release: () => release() }
}

describe('a connection', () => {
  it('carries one request after the other, each with its own body and headers', async () => {
    const { port, arrivals } = await start()
    const answers = await sendRaw(port, request('one'), request('two'), request('three and a half'))
    expect([...answers.matchAll(/"body":"([^"]*)"/g)].map(([, body]) => body)).toEqual([
      'one',
      'two',
      'three and a half',
    ])
    expect(arrivals).toHaveLength(3)
  })

  it.each(['close', 'Close'])('ends with the answer where its caller says %s', async (word) => {
    const { port, arrivals } = await start()
    const last = request('one').replace('\r\n\r\n', `\r\nConnection: ${word}\r\n\r\n`)
    const answers = await sendRaw(port, request('before'), last, request('behind'))
    expect([...answers.matchAll(/"body":"([^"]*)"/g)].map(([, body]) => body)).toEqual(['before', 'one'])
    expect([...answers.matchAll(/^Connection: (.*)\r$/gm)].map(([, said]) => said)).toEqual([
      'keep-alive',
      'close',
    ])
    expect(arrivals).toHaveLength(2)
  })

  it('refuses a body over the limit and continues', async () => {
    const { port, arrivals } = await start({ maxBodyBytes: 10 })
    const answers = await sendRaw(port, request('x'.repeat(11)), request('x'))
    expect(answers).toMatch(
      /^HTTP\/1.1 413 Payload Too Large\r\n[^]*request_too_large[^]*HTTP\/1.1 200 OK\r\n/,
    )
    expect(arrivals).toHaveLength(2)
  })

  it('answers in order when a caller does not wait for the answer', async () => {
    const gate = held()
    const { port, arrivals } = await start(gate)
    const { socket, received } = openRaw(port)
    socket.write(request('first'))
    await until(() => arrivals.length === 1)
    socket.write(request('second'))
    gate.release()
    await until(() => received().includes('second'))
    expect(received().indexOf('first')).toBeLessThan(received().indexOf('second'))
    socket.destroy()
  })

  it('sends all of its answers to a caller that is slow to read them', async () => {
    const { port } = await start({ answerBody: Buffer.alloc(2_000_000, 'z') })
    const { socket, received } = openRaw(port)
    socket.pause()
    for (let count = 0; count < 5; count++) socket.write(request(`${count}`))
    socket.resume()
    await until(() => received().length > 10_000_000)
    expect(received().match(/HTTP\/1.1 200 OK/g)).toHaveLength(5)
    socket.destroy()
  })

  it('sends the whole of a last answer to a caller that is slow to read it', async () => {
    const { port, arrivals } = await start({ answerBody: Buffer.alloc(20_000_000, 'z') })
    const { socket, answered } = openRaw(port)
    socket.pause()
    socket.write(request('one').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    await until(() => arrivals.length === 1)
    socket.resume()
    const text = await answered
    expect(text.length - text.indexOf('zz')).toBe(20_000_000)
  })
})

describe('a request that breaks off in its body', () => {
  it('is refused and told to the request handler, when the caller closes its side', async () => {
    const { port, arrivals } = await start()
    expect(await sendRaw(port, request('half', 100))).toMatch(/^HTTP\/1.1 400 Bad Request[^]*invalid_request/)
    expect(arrivals[0]?.failure?.message).toBe('the client disconnected before the end of the body')
  })

  it('is told to the request handler when the caller is gone', async () => {
    const { port, arrivals, bytesRead } = await start()
    const { socket } = openRaw(port)
    const text = request('half', 100)
    socket.write(text)
    await until(() => bytesRead() === text.length)
    socket.destroy()
    await until(() => arrivals[0]?.failure !== undefined)
    expect(arrivals[0]?.failure?.message).toBe('the client disconnected before the end of the body')
  })
})

describe('a request behind another', () => {
  it('does not count the start of the next request, behind the second half of a body, as half a body', async () => {
    const gate = held()
    const { port, arrivals, bytesRead, halfBytes } = await start({ beforeAnswer: gate.beforeAnswer })
    const { socket, received } = openRaw(port)
    const [first, second] = [request('half', 8), `rest${request('next')}`]
    socket.write(first)
    await until(() => halfBytes() === 4)
    socket.write(second)
    await until(() => arrivals.length === 1 && bytesRead() === first.length + second.length)
    expect(halfBytes()).toBe(0)
    gate.release()
    await until(() => received().includes('"body":"halfrest"') && received().includes('"body":"next"'))
    socket.destroy()
  })
})

describe('a connection on which nothing happens', () => {
  async function startWithFakeTime(options: Partial<TestServerOptions> = {}): Promise<TestServer> {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    return await start(options)
  }

  it('is refused when a body does not come to its end in time', async () => {
    const { port, arrivals, halfBytes } = await start({ requestMs: 20 })
    const { socket, answered } = openRaw(port)
    socket.write(request('half', 100))
    expect(await answered).toMatch(/^HTTP\/1.1 408 Request Timeout[^]*Connection: close[^]*request_timeout/)
    await until(() => arrivals[0]?.failure !== undefined)
    expect(halfBytes()).toBe(0)
  })

  it('is closed when the body of a request that has been answered does not come to its end', async () => {
    const { port } = await start({ requestMs: 20, maxBodyBytes: 10 })
    const { socket, answered } = openRaw(port)
    socket.write(request('half', 100_000))
    expect(await answered).toMatch(/^HTTP\/1.1 413 /)
  })

  it.each(['keep-alive', 'close'])(
    'is not closed while its caller takes an answer slowly (%s)',
    async (word) => {
      const { port, arrivals } = await startWithFakeTime({ answerBody: Buffer.alloc(20_000_000, 'z') })
      const { socket, received } = openRaw(port)
      socket.pause()
      socket.write(request('one').replace('\r\n\r\n', `\r\nConnection: ${word}\r\n\r\n`))
      await until(() => arrivals.length === 1)
      vi.advanceTimersByTime(120 * SECOND_MS)
      socket.resume()
      await until(() => received().length > 20_000_000)
      socket.destroy()
    },
  )

  it.each(['keep-alive', 'close'])(
    'is closed where its caller takes none of an answer (%s)',
    async (word) => {
      const answerBody = Buffer.alloc(20_000_000, 'z')
      const { port, unreadBytes } = await start({ answerBody, stalledMs: 1000 })
      const { socket } = openRaw(port)
      socket.pause()
      socket.write(request('one').replace('\r\n\r\n', `\r\nConnection: ${word}\r\n\r\n`))
      await until(() => unreadBytes() > 0)
      await until(() => unreadBytes() === 0)
      socket.destroy()
    },
  )
})
