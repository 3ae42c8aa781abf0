import { connect } from 'node:net'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import { afterEach, describe, expect, it } from 'vitest'

import { ConnectionLimit } from '../../../../src/http/transport/connection-limit.js'
import type { Exchange } from '../../../../src/http/exchange/exchange.js'
import { StandardExchange } from '../../../../src/http/transport/node/standard-exchange.js'
import { PartialBodies } from '../../../../src/http/transport/partial-bodies.js'
import { UnreadAnswers } from '../../../../src/http/transport/unread-answers.js'
import { PageQueue } from '../../../../src/http/transport/page-queue.js'
import { RequestQueue } from '../../../../src/http/transport/request-queue.js'
import { createStandardServer } from '../../../../src/http/transport/node/standard-server.js'
import type { StandardServer } from '../../../../src/http/transport/node/standard-server.js'
import { untilQuiet } from '../../../support/until-quiet.js'
import { waitUntil } from '../../../support/wait-until.js'

const TIMEOUTS = { headersMs: 20_000, requestMs: 120_000, keepAliveMs: 75_000, stalledMs: 60_000 }

const ROOM = {
  partialBodies: new PartialBodies(0),
  unreadAnswers: new UnreadAnswers(),
  connections: new ConnectionLimit(1000),
  requests: new RequestQueue(),
  pages: new PageQueue(),
}

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function start(handle: (exchange: Exchange) => void): Promise<StandardServer & { port: number }> {
  const standard = createStandardServer(handle, {
    requestIdFor: () => 'own',
    timeouts: TIMEOUTS,
    limits: ROOM,
  })
  server = standard.server
  await new Promise<void>((resolve) => standard.server.listen(0, '127.0.0.1', resolve))
  return { ...standard, port: (standard.server.address() as AddressInfo).port }
}

function open(port: number): { socket: Socket; text: () => string; closed: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  return { socket, text: () => Buffer.concat(chunks).toString('latin1'), closed }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

async function until(isSo: () => boolean): Promise<void> {
  await waitUntil(
    () => (isSo() ? true : undefined),
    () => 'it does not come to that',
  )
}

describe('requests of one connection', () => {
  it('are answered in their order, each after the one before it', async () => {
    const asked: Exchange[] = []
    const { port } = await start((exchange) => asked.push(exchange))
    const { socket, text } = open(port)
    socket.write(get('/1') + get('/2') + get('/3'))
    for (const path of ['/1', '/2', '/3']) {
      await until(() => asked.at(-1)?.target.path === path)
      asked.at(-1)?.send(200, `answer to ${path}`)
      await until(() => text().includes(`answer to ${path}`))
    }
    expect(asked).toHaveLength(3)
  })

  it('are made no further when nobody reads their answers', async () => {
    let made = 0
    const body = 'x'.repeat(1024 * 1024)
    const { port } = await start((exchange) => {
      made += 1
      exchange.send(200, body)
    })
    const { socket } = open(port)
    socket.pause()
    for (let n = 0; n < 400; n += 1) socket.write(get(`/${n}`))
    // Socket buffers hold some megabytes.
    expect(await untilQuiet(() => made)).toBeLessThan(40)
    socket.resume()
    await until(() => made === 400)
  })

  it('cost a connection that sends thousands and reads nothing', async () => {
    const { port } = await start(() => undefined)
    const { socket, closed } = open(port)
    socket.write(get('/').repeat(5000))
    await closed
  })
})

describe('a server that drains', () => {
  it('says with the last answer of a connection that it is the last', async () => {
    const asked: Exchange[] = []
    const { port, connections } = await start((exchange) => asked.push(exchange))
    const { socket, text, closed } = open(port)
    socket.write(get('/1') + get('/2'))
    await until(() => asked.length === 1)
    connections.drain()
    asked[0]?.send(200, 'first')
    await until(() => asked.length === 2)
    asked[1]?.send(200, 'second')
    await closed
    expect(text().match(/^Connection: .*$/gm)).toEqual(['Connection: keep-alive', 'Connection: close'])
    expect(text()).toMatch(/first[^]*second$/)
  })

  it('answers what comes on an open connection, and that it is the last', async () => {
    const { port, connections } = await start((exchange) => exchange.send(200, 'answer'))
    const { socket, text, closed } = open(port)
    socket.write(get('/1'))
    await until(() => text().includes('answer'))
    connections.drain()
    socket.write(get('/2'))
    await closed
    expect(text().match(/^Connection: .*$/gm)).toEqual(['Connection: keep-alive', 'Connection: close'])
  })
})

describe('an answer that nobody reads', () => {
  it('is given up after a while, one that is long in the making is not', async () => {
    const asked: Exchange[] = []
    const { port } = await start((exchange) => asked.push(exchange))
    const [unread, slow] = [open(port), open(port)]
    unread.socket.write(get('/unread'))
    await until(() => asked.length === 1)
    unread.socket.pause()
    slow.socket.write(get('/slow'))
    await until(() => asked.length === 2)
    const sockets = asked.flatMap((exchange) =>
      exchange instanceof StandardExchange ? [exchange.request.socket] : [],
    )
    // Before both requests have arrived, a busy machine may take longer.
    for (const socket of sockets) socket.setTimeout(200)
    asked[0]?.send(200, 'x'.repeat(64 * 1024 * 1024))
    await until(() => sockets[0]?.destroyed === true)
    asked[1]?.send(200, 'answer')
    await until(() => slow.text().endsWith('answer'))
  })
})

describe('who waits for an answer to a caller that goes away', () => {
  it('is reported once, as it said last, however often it said so', async () => {
    const asked: Exchange[] = []
    const { port } = await start((exchange) => asked.push(exchange))
    const { socket } = open(port)
    socket.write(get('/1'))
    await until(() => asked.length === 1)
    const told: number[] = []
    for (let time = 1; time <= 20; time += 1) asked[0]?.whenGone(() => told.push(time))
    socket.destroy()
    await until(() => told.length > 0)
    expect(told).toEqual([20])
  })
})
