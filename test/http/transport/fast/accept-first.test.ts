import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { afterEach, describe, expect, it } from 'vitest'

import { AcceptFirst } from '../../../../src/http/transport/fast/accept-first.js'
import { startTestServer } from '../../../support/http-transports.js'
import type { TestServer } from '../../../support/http-transports.js'
import { ScriptedSocket } from '../../../support/scripted-socket.js'
import { waitUntil } from '../../../support/wait-until.js'

let server: TestServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

describe('requests while connections come', () => {
  it('wait in line, and are answered in order, each once', async () => {
    const acceptFirst = new AcceptFirst()
    expect(acceptFirst.isAccepting).toBe(false)
    const answered: number[] = []
    acceptFirst.accepted()
    for (let request = 0; request < 100; request += 1)
      acceptFirst.answerInTurn(2, () => answered.push(request))
    expect(answered).toEqual([])
    for (let turn = 0; turn < 1000 && acceptFirst.isAccepting; turn += 1) await nextTurn()
    expect(answered).toEqual(Array.from({ length: 100 }, (_, request) => request))
    expect(acceptFirst.isAccepting).toBe(false)
  })

  it('are answered a few in each turn, however long one takes', async () => {
    const acceptFirst = new AcceptFirst()
    let answered = 0
    const slow = (): void => {
      for (const until = performance.now() + 1; performance.now() < until;);
      answered += 1
    }
    for (let request = 0; request < 5; request += 1) {
      acceptFirst.accepted()
      acceptFirst.answerInTurn(2, slow)
      acceptFirst.answerInTurn(2, slow)
      await nextTurn()
      expect(answered).toBe(request + 1)
    }
  })

  it('do not wait where those in line hold as much as they may', async () => {
    const acceptFirst = new AcceptFirst()
    let waiting = 0
    acceptFirst.accepted()
    for (; acceptFirst.isAccepting && waiting < 10_000; waiting += 1)
      acceptFirst.answerInTurn(65_536, () => (waiting -= 1))
    expect(waiting).toBe(1024)
    while (waiting > 0) await nextTurn()
    acceptFirst.accepted()
    expect(acceptFirst.isAccepting).toBe(true)
  })

  it('wait where a connection came in the same turn, and not in a turn without one', async () => {
    server = await startTestServer({ hasFastTransport: true })
    const { arrivals } = server
    const socket = new ScriptedSocket()
    const request = Buffer.from('POST /v1/data/app HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}')
    server.server.emit('connection', socket as unknown as Socket)
    socket.emit('data', request)
    expect(arrivals).toEqual([])
    await nextTurn()
    await nextTurn()
    expect(arrivals).toHaveLength(1)
    await waitUntil(
      () => socket.written[0],
      () => 'no answer',
    )
    socket.emit('data', request)
    expect(arrivals).toHaveLength(2)
    socket.emit('close')
  })

  it('are not answered any more where their callers have gone meanwhile', async () => {
    server = await startTestServer({ hasFastTransport: true })
    const socket = new ScriptedSocket()
    server.server.emit('connection', socket as unknown as Socket)
    socket.emit('data', Buffer.from('POST /v1/data/app HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'))
    socket.emit('close')
    await nextTurn()
    await nextTurn()
    expect(server.arrivals).toEqual([])
  })
})
