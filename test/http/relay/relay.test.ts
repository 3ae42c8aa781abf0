import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { Server as NetServer, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { toAppError } from '../../../src/errors/app-error.js'
import { ORIGIN_HEADER, makeRelay } from '../../../src/http/relay/relay-request.js'
import { serveRelayed } from '../../../src/http/relay/serve-relayed.js'
import { makeServerLimits, startServer } from '../../../src/http/server.js'
import type { RunningServer } from '../../../src/http/server.js'
import { makeRequestHandler } from '../../../src/http/transport/handle-request.js'
import type { Exchange } from '../../../src/http/exchange/exchange.js'
import { ask } from '../../support/http-client.js'
import { openRaw } from '../../support/http-transports.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

const LIMIT = 1_000_000
const askAnew = (url: string) => ask(url, { path: '/x', headers: { connection: 'close' } })

let workspace: Workspace
const closing: (() => unknown)[] = []
/** The last started server, which relays its requests. */
let front: RunningServer | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0).reverse()) await close()
})

type Finished = (exchange: Exchange) => void

/**
 * Starts a server that relays everything to another one with these responses. `finished` is called
 * for requests that the first one completes.
 */
async function startRelaying(
  answer: (exchange: Exchange) => unknown,
  finished: Finished = () => undefined,
): Promise<string> {
  workspace = makeWorkspace()
  closing.push(workspace.remove)
  mkdirSync(join(workspace.path, 'service'))
  const socket = join(workspace.path, 'service', 'main')
  const application = async (exchange: Exchange): Promise<void> => {
    await answer(exchange)
  }
  const options = { admit: () => undefined, find: undefined, finished: () => undefined }
  const relayed = await serveRelayed(
    makeRequestHandler({ ...options, application }),
    socket,
    LIMIT,
    makeServerLimits(LIMIT),
  )
  closing.push(() => relayed.stop(0))
  return await startBefore(socket, finished)
}

async function startBefore(
  socket: string,
  finished: Finished = () => undefined,
  idleMs?: number,
): Promise<string> {
  const relay = makeRelay(socket, idleMs)
  const options = { admit: () => undefined, find: undefined, finished }
  const server = await startServer(makeRequestHandler({ ...options, application: relay.answer }), {
    listenOn: { host: '127.0.0.1', port: 0 },
    limits: makeServerLimits(LIMIT),
  })
  front = server
  closing.push(
    () => server.stop(0),
    () => relay.close(),
  )
  return server.url
}

describe('a request that is relayed', () => {
  test('arrives as it was sent, and its answer comes back as it was given', async () => {
    const seen: { method: string; path: string; body: string; from: string | undefined; id: string }[] = []
    const url = await startRelaying(async (exchange) => {
      const body = (await exchange.readBytes(LIMIT)).toString()
      const { method, requestId: id, remoteAddress: from, target } = exchange
      seen.push({ method, path: `${target.path}?${target.query}`, body, from, id })
      exchange.send(418, 'short and stout', 'text/plain', ['X-Kind', 'pot'])
    })
    const body = 'x'.repeat(200_000)
    const answer = await ask(url, {
      method: 'PUT',
      path: '/a/b%20c?d=%C3%A9',
      body,
      headers: { 'x-request-id': 'mine', [ORIGIN_HEADER]: '203.0.113.9', expect: '100-continue' },
    })
    expect([answer.status, answer.text, answer.headers['x-kind']]).toEqual([418, 'short and stout', 'pot'])
    expect(answer.headers['x-request-id']).toBe('mine')
    expect(seen).toEqual([{ method: 'PUT', path: '/a/b%20c?d=%C3%A9', body, from: '127.0.0.1', id: 'mine' }])
  })

  test('finds room to wait where thousands are relayed while the other process does something else', async () => {
    const listens = vi.spyOn(NetServer.prototype, 'listen')
    await startRelaying((exchange) => exchange.send(200, '{}'))
    expect(listens).toHaveBeenCalledWith(join(workspace.path, 'service', 'main'), 4096)
  })

  test.each([
    ['GET /x HTTP/1.0\r\n\r\n', undefined],
    ['GET /x HTTP/1.1\r\nHost: one\r\nConnection: close\r\n\r\n', 'one'],
    ['GET http://two/x HTTP/1.1\r\nHost: one\r\nConnection: close\r\n\r\n', 'two'],
  ])('goes to the host that it names: %j', async (head, host) => {
    const hosts: (string | undefined)[] = []
    const url = await startRelaying((exchange) => {
      hosts.push(exchange.header('host'))
      exchange.send(200, exchange.target.path)
    })
    const { socket, answered } = openRaw(Number(new URL(url).port))
    socket.write(head)
    expect(await answered).toMatch(/ 200 OK\r\n[^]*\/x$/)
    expect(hosts).toEqual([host])
  })

  test.each([
    ['is not asked for a body that is refused by its length', LIMIT + 1, 413],
    ['is asked for one that is read', 4, 200],
  ])('whose caller waits to be asked %s', async (_, length, status) => {
    const url = await startRelaying(async (exchange) => {
      try {
        exchange.send(200, await exchange.readBytes(LIMIT))
      } catch (raw) {
        exchange.fail(toAppError(raw))
      }
    })
    const { socket, received, answered } = openRaw(Number(new URL(url).port))
    socket.write(
      `POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    if (status === 200) {
      await waitUntil(
        () => received() === 'HTTP/1.1 100 Continue\r\n\r\n' || undefined,
        () => `it is not asked for: ${received()}`,
      )
      socket.write('body')
    }
    const answer = await answered
    expect(answer).toMatch(
      new RegExp(`^${status === 200 ? 'HTTP/1.1 100 Continue\r\n\r\n' : ''}HTTP/1.1 ${status} `),
    )
    expect(answer.endsWith('\r\n\r\nbody')).toBe(status === 200)
  })

  test('that breaks off is not taken for one that the other process does not answer', async () => {
    const failures: (string | undefined)[] = []
    const url = await startRelaying(
      (exchange) => exchange.readBytes(LIMIT),
      ({ status, failure }) => failures.push(`${status} ${failure?.code}`),
    )
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n{', () => socket.destroy())
    await waitUntil(
      () => failures.length > 0 || undefined,
      () => 'it goes on',
    )
    expect(failures).toEqual(['400 invalid_parameter'])
  })

  test.each(['GET', 'DELETE', 'POST'])(
    'is one request wherever its length stands in the head, though its body looks like another (%s)',
    async (method) => {
      const seen: string[] = []
      const url = await startRelaying(async (exchange) => {
        const body = (await exchange.readBytes(LIMIT)).toString()
        seen.push(`${exchange.method} ${exchange.target.path} ${body} ${exchange.remoteAddress}`)
        exchange.send(200, 'once')
      })
      const within = `GET /within HTTP/1.1\r\nHost: a\r\n${ORIGIN_HEADER}: 203.0.113.9\r\n\r\n`
      const others = Array.from({ length: 1200 }, (_, at) => `a${at}: b\r\n`).join('')
      const { socket, answered } = openRaw(Number(new URL(url).port))
      socket.write(
        `${method} /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${others}Content-Length: ${within.length}\r\n\r\n${within}`,
      )
      expect((await answered).match(/once$/g)).toHaveLength(1)
      expect(seen).toEqual([`${method} /x ${within} 127.0.0.1`])
    },
  )

  test('is answered though its body is not read', async () => {
    const url = await startRelaying((exchange) => exchange.send(413, 'no'))
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(url, { path: '/x', body: 'x'.repeat(900_000) })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 413))
  })

  test.each([1, 2, 3])(
    'is answered to who sends all of its body before reading, though it was refused at its start (%i)',
    async () => {
      const url = new URL(await startRelaying((exchange) => exchange.send(413, 'no')))
      const socket = connect(Number(url.port), url.hostname)
      const body = Buffer.alloc(40_000_000, 'x')
      socket.pause()
      socket.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
      await new Promise<void>((sent, failed) => {
        socket.on('error', failed)
        socket.write(body, () => sent())
      })
      const answer = await new Promise<string>((read) => {
        socket.once('data', (chunk: Buffer) => read(chunk.toString()))
        socket.resume()
      })
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      socket.destroy()
    },
  )

  test('has no body where a HEAD is asked', async () => {
    const url = await startRelaying((exchange) => exchange.send(200, 'text'))
    const { status, text, headers } = await ask(url, { method: 'HEAD', path: '/x' })
    expect([status, text, headers['content-length']]).toEqual([200, '', '4'])
  })

  test('ends when its caller goes away', async () => {
    let isGone = false
    let hasArrived = false
    const url = await startRelaying(
      (exchange) =>
        new Promise((resolve) => {
          hasArrived = true
          exchange.whenGone(() => {
            isGone = true
            resolve(undefined)
          })
        }),
    )
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await waitUntil(
      () => hasArrived || undefined,
      () => 'it did not arrive',
    )
    socket.destroy()
    await waitUntil(
      () => isGone || undefined,
      () => 'it goes on',
    )
  })

  test('reaches the other process again after its socket was removed', async () => {
    const url = await startRelaying((exchange) => exchange.send(200, 'here'))
    const folder = join(workspace.path, 'service')
    for (const remove of [() => rmSync(join(folder, 'main')), () => rmSync(folder, { recursive: true })]) {
      remove()
      await waitUntil(
        async () => (existsSync(join(folder, 'main')) && (await askAnew(url)).text === 'here') || undefined,
        () => 'it is not reached again',
      )
    }
  })

  test('goes to no other folder that somebody puts into the place of a removed one', async () => {
    const url = await startRelaying((exchange) => exchange.send(200, 'here'))
    const [folder, others] = [join(workspace.path, 'service'), join(workspace.path, 'others')]
    mkdirSync(others)
    rmSync(folder, { recursive: true })
    symlinkSync(others, folder)
    // Longer than the polling interval.
    for (let asked = 0; asked < 15; asked += 1) {
      expect((await askAnew(url)).status).toBe(503)
      await setTimeout(100)
    }
    rmSync(folder)
    await waitUntil(
      async () => (await askAnew(url)).status === 200 || undefined,
      () => 'it is not reached again',
    )
    expect(existsSync(join(others, 'main'))).toBe(false)
  })

  test('leaves no connection for the other process to end, and cuts none that is slow', async () => {
    workspace = makeWorkspace()
    closing.push(workspace.remove)
    const socket = join(workspace.path, 'main')
    let open = 0
    const other = createServer((_, response) => void setTimeout(300).then(() => response.end('late')))
    other.keepAliveTimeout = 60_000
    other.on('connection', (connection) => {
      open += 1
      connection.once('close', () => (open -= 1))
    })
    await new Promise<void>((resolve) => other.listen(socket, resolve))
    closing.push(() => new Promise((resolve) => other.close(resolve)))
    const url = await startBefore(socket, undefined, 50)
    expect((await ask(url, { path: '/x' })).text).toBe('late')
    await waitUntil(
      () => open === 0 || undefined,
      () => 'it is kept',
    )
  })

  test('that is refused as the service stops is not answered again by the other process', async () => {
    const arrived = Promise.withResolvers<Exchange>()
    const answered: number[] = []
    const url = await startRelaying(
      (exchange) => arrived.resolve(exchange),
      ({ status }) => answered.push(status),
    )
    const refused = askAnew(url)
    const exchange = await arrived.promise
    const stopped = front?.stop(1)
    expect((await refused).status).toBe(503)
    exchange.send(200, 'too late')
    await stopped
    await waitUntil(
      () => answered.length > 0 || undefined,
      () => 'the refusal was not noted',
    )
    expect(answered).toEqual([503])
  })

  test('is a 503 where the other process is gone, and is cut where it goes away meanwhile', async () => {
    workspace = makeWorkspace()
    closing.push(workspace.remove)
    const socket = join(workspace.path, 'main')
    const url = await startBefore(socket)
    expect((await ask(url, { path: '/x' })).status).toBe(503)
    let heard: IncomingHttpHeaders | undefined
    const other = createServer((request, response) => {
      heard = request.headers
      response.writeHead(200, { 'content-length': 100 }).write('half of it')
      setImmediate(() => response.destroy())
    })
    await new Promise<void>((resolve) => other.listen(socket, resolve))
    closing.push(() => new Promise((resolve) => other.close(resolve)))
    await expect(ask(url, { path: '/x' })).rejects.toThrow()
    expect(heard).toBeDefined()
    expect(other.address()).toBe(socket)
  })
})
