import type { Socket } from 'node:net'

import { afterEach, expect, test, vi } from 'vitest'

import { readBody } from '../../../../src/http/input/read-body.js'
import type { BoundRoute } from '../../../../src/http/pipeline/route.js'
import { RequestQueue, queueFull } from '../../../../src/http/transport/request-queue.js'
import { openRaw, sendRaw } from '../../../support/http-transports.js'
import { startRoutesServer } from '../../../support/routes-server.js'
import type { RoutesServer } from '../../../support/routes-server.js'
import { unansweredRoutes } from '../../../support/served-routes.js'
import { PATIENT, waitUntil } from '../../../support/wait-until.js'

const HEAD = '/v1/data/app HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
const chunked = (body: string): string =>
  `POST ${HEAD}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const REQUESTS: readonly (readonly [string, string])[] = [
  ['a body in chunks', chunked('{}')],
  ['a body of 100 KB', `POST ${HEAD}Content-Length: 100000\r\n\r\n${' '.repeat(100_000)}`],
  ['a GET that says that it has no body', `GET ${HEAD}Content-Length: 0\r\n\r\n`],
  ['HTTP/1.0', 'POST /v1/data/app HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}'],
  ['the headers of a browser', `POST ${HEAD}Sec-Fetch-Site: none\r\nContent-Length: 2\r\n\r\n{}`],
  ['an expectation', `POST ${HEAD}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`],
]

let server: RoutesServer | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  await server?.stop(0)
  server = undefined
})

async function serve(isDirect: boolean): Promise<{ port: number; answered: () => number }> {
  let answered = 0
  const routes = unansweredRoutes().map((route): BoundRoute => {
    if (route.kind !== 'direct') return route
    return {
      ...route,
      answerOn: async (exchange) => {
        if (route.method === 'POST') await readBody(exchange, 1_000_000)
        answered += 1
        exchange.send(200, '{}')
      },
    }
  })
  const open = routes.map((route): BoundRoute => ({ ...route, roles: 'anyone' }))
  server = await startRoutesServer(open, { isDirect })
  return { port: Number(new URL(server.url).port), answered: () => answered }
}

const BOTH = [true, false].flatMap((isDirect) => REQUESTS.map((row) => [...row, isDirect] as const))

test.each(BOTH)(
  '%s waits for its turn, and is refused where that takes too long',
  async (_, request, isDirect) => {
    const { port, answered } = await serve(isDirect)
    const takeTurn = vi.spyOn(RequestQueue.prototype, 'takeTurn')
    expect(await sendRaw(port, request)).toContain('HTTP/1.1 200 OK\r\n')
    expect(takeTurn).toHaveBeenCalledOnce()
    takeTurn.mockImplementation(() => Promise.reject(queueFull()))
    const refused = await sendRaw(port, request)
    expect(refused).toContain('HTTP/1.1 503 Service Unavailable\r\n')
    expect(refused).toContain('Retry-After: 5\r\n')
    expect(answered()).toBe(1)
  },
)

test('a body that is refused takes no turn when the rest of it has come', async () => {
  const { port } = await serve(true)
  const takeTurn = vi.spyOn(RequestQueue.prototype, 'takeTurn')
  const { socket, received } = openRaw(port)
  const get = 'GET /v1/data/app HTTP/1.1\r\nHost: localhost\r\n\r\n'
  socket.write(chunked(' '.repeat(2_000_000)).replace('Connection: close\r\n', '') + get)
  await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 200 OK'), PATIENT)
  socket.destroy()
  expect(received()).toContain('HTTP/1.1 413 ')
  expect(takeTurn.mock.calls).toEqual([[0]])
})

test('what is asked by somebody who has gone before it is his turn is not answered', async () => {
  const { port, answered } = await serve(true)
  let goOn: (() => void) | undefined
  vi.spyOn(RequestQueue.prototype, 'takeTurn').mockImplementation(
    () => new Promise<void>((resolve) => (goOn = resolve)),
  )
  let isGone = false
  server?.listener.on('connection', (taken: Socket) => taken.once('close', () => (isGone = true)))
  const { socket } = openRaw(port)
  socket.write(chunked('{}'))
  await vi.waitFor(() => expect(goOn).toBeDefined(), PATIENT)
  socket.destroy()
  await waitUntil(
    () => (isGone ? true : undefined),
    () => 'the service does not see that he has gone',
  )
  goOn?.()
  await vi.waitFor(() => expect(server?.finished).toHaveLength(1), PATIENT)
  expect(answered()).toBe(0)
})

test('a request with several evaluations ends when its client has gone, without a queue too', async () => {
  const turns: number[] = []
  let isGone = false
  const [direct] = unansweredRoutes().filter(({ kind, method }) => kind === 'direct' && method === 'POST')
  if (direct?.kind !== 'direct') throw new Error('there is no direct route')
  const answerOn: typeof direct.answerOn = async (exchange) => {
    await readBody(exchange, 1_000_000)
    socket.destroy()
    await vi.waitFor(() => expect(isGone).toBe(true), PATIENT)
    for (let turn = 0; turn < 3; turn += 1) {
      await exchange.takeTurn(0)
      turns.push(turn)
    }
  }
  server = await startRoutesServer([{ ...direct, roles: 'anyone', answerOn }], { isDirect: true })
  server.listener.on('connection', (taken: Socket) => taken.once('close', () => (isGone = true)))
  const { socket } = openRaw(Number(new URL(server.url).port))
  socket.write(
    `POST ${direct.path.replace('*', 'app')} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`,
  )
  await vi.waitFor(() => expect(server?.finished).toHaveLength(1), PATIENT)
  expect(turns).toEqual([])
})
