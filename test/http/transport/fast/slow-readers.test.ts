import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'

import { PlainConnection } from '../../../../src/http/transport/fast/plain-connection.js'
import { readPlainHead } from '../../../../src/http/transport/fast/read-plain-head.js'
import { WaitingLine } from '../../../../src/http/transport/waiting-line.js'
import { HalfBodies } from '../../../../src/http/transport/half-bodies.js'
import { UnreadAnswers } from '../../../../src/http/transport/unread-answers.js'
import { ScriptedSocket } from '../../../support/scripted-socket.js'

const REQUEST = 'POST /v1/data/app HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'

function connect() {
  const socket = new ScriptedSocket()
  const unread: string[] = []
  let asked = 0
  const connection = new PlainConnection(socket as unknown as Socket, {
    tick: 0,
    isDraining: false,
    keepAliveMs: 5000,
    stalledMs: 60_000,
    readHead: (bytes) => readPlainHead(bytes),
    requestIdFor: () => 'r1',
    answer: () => {
      asked += 1
    },
    line: new WaitingLine(),
    waits: () => true,
    halfBodies: new HalfBodies(1000),
    unreadAnswers: new UnreadAnswers(),
    proven: () => undefined,
    handOver: (_connection, _socket, bytes) => unread.push(bytes.toString()),
    closed: () => undefined,
  })
  const send = (text: string): boolean => socket.emit('data', Buffer.from(text))
  const parts = { contentType: 'text/plain', requestId: 'r1', extraHeaders: [] }
  const answer = (): void => connection.answer({ ...parts, status: 200, body: 'done' })
  return { socket, send, answer, unread, asked: () => asked }
}

describe('a caller that does not read its answers', () => {
  it('is not read from until what was written is out', () => {
    const { socket, send, answer, asked } = connect()
    send(REQUEST)
    socket.writableNeedDrain = true
    answer()
    expect(socket.isPaused).toBe(true)
    socket.writableNeedDrain = false
    socket.emit('drain')
    expect(socket.isPaused).toBe(false)
    send(REQUEST)
    expect(asked()).toBe(2)
  })

  it('is read from all along while its answers go out', () => {
    const { socket, send, answer } = connect()
    send(REQUEST)
    answer()
    expect(socket.isPaused).toBe(false)
  })
})

describe('a caller that sends on before it is answered', () => {
  it('is read no further until then, and all of it is handed over', () => {
    const { socket, send, answer, unread } = connect()
    send(REQUEST)
    send(REQUEST.slice(0, 10))
    expect(socket.isPaused).toBe(true)
    socket.emit('drain')
    expect(socket.isPaused).toBe(true)
    answer()
    expect(unread).toEqual([REQUEST.slice(0, 10)])
  })
})
