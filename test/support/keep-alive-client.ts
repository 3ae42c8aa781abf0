import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/**
 * The result of a client that sends sequential requests on one connection until the
 * server announces the last response.
 */
interface KeepAliveCalls {
  readonly answered: number
  /** Whether the connection ended under a request that had no answer, or in the middle of one. */
  readonly isCut: boolean
}

const LENGTH = /\r\nContent-Length: (\d+)\r\n/i
const CLOSES = /\r\nConnection: close\r\n/i

/** Sends requests until a response closes the connection. `request` is the raw HTTP request. */
export function callUntilClosed(
  url: string,
  request: string,
  pauseMs: number,
  open: () => Socket = () => connectTo(url),
): Promise<KeepAliveCalls> {
  return new Promise((resolve) => {
    const socket = open()
    let received = ''
    let answered = 0
    let isWaiting = true
    let isLast = false
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('close', () => resolve({ answered, isCut: isWaiting && !isLast }))
    socket.write(request)
    socket.on('data', (text: string) => {
      received += text
      const head = received.indexOf('\r\n\r\n')
      if (head === -1) return
      const whole = head + 4 + Number(LENGTH.exec(received)?.[1] ?? 0)
      if (received.length < whole) return
      isLast = CLOSES.test(received.slice(0, head + 2))
      received = received.slice(whole)
      answered += 1
      isWaiting = false
      if (!isLast) void next()
    })
    const next = async (): Promise<void> => {
      await setTimeout(pauseMs)
      if (socket.destroyed || socket.readableEnded) return
      isWaiting = true
      socket.write(request)
    }
  })
}

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname)
}
