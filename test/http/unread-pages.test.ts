import type { Socket } from 'node:net'
import { connect } from 'node:net'

import { afterEach, expect, it, vi } from 'vitest'

import { routesOf } from '../../src/http/pipeline/define-routes.js'
import { UnreadAnswers } from '../../src/http/transport/unread-answers.js'
import { startRoutesServer } from '../support/routes-server.js'
import type { RoutesServer } from '../support/routes-server.js'

const { route } = routesOf<undefined>()
const PAGE = 'x'.repeat(30_000_000)

let server: RoutesServer | undefined
let socket: Socket | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  socket?.destroy()
  await server?.stop(0)
})

it('a page that its caller does not read counts among the answers that nobody has read, until he is gone', async () => {
  const row = { method: 'GET', roles: 'anyone', path: '/list', handler: 'test', summary: 'A test' } as const
  const page = route({ ...row, answers: {}, answer: () => new Response(PAGE) })
  server = await startRoutesServer([page.bind(undefined)], {})
  const holds = vi.spyOn(UnreadAnswers.prototype, 'hold')
  const counted = (): number => (holds.mock.contexts as UnreadAnswers[])[0]?.total ?? 0
  socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.pause()
  socket.write('GET /list HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await expect.poll(counted).toBeGreaterThan(PAGE.length / 2)
  socket.destroy()
  await expect.poll(counted).toBe(0)
})
