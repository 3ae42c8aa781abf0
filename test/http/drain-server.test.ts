import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { expect, it, test, vi } from 'vitest'

import { jsonAnswer } from '../../src/http/exchange/json-answer.js'
import { routesOf } from '../../src/http/pipeline/define-routes.js'
import { ask } from '../support/http-client.js'
import { startRoutesServer } from '../support/routes-server.js'

/** Longer than a test may take: one that waits for all of it fails. */
const DRAIN_MS = 600_000

const route = routesOf<null>().route({
  method: 'GET',
  path: '/one',
  roles: 'anyone',
  handler: 'test',
  summary: 'A test',
  answers: {},
  answer: () => jsonAnswer({}),
})

it.each([true, false])(
  'a server that stops does not wait for connections that have asked nothing (direct route: %s)',
  async (isDirect) => {
    const server = await startRoutesServer([route.bind(null)], { isDirect })
    const { hostname, port } = new URL(server.url)
    const silent = connect(Number(port), hostname).resume()
    const ended = new Promise((resolve) => silent.once('close', resolve))
    expect((await ask(server.url, { path: '/one' })).status).toBe(200)
    await server.stop(DRAIN_MS)
    await ended
  },
)

it.each([true, false])(
  'a server that stops answers who waits to be accepted (direct route: %s)',
  async (isDirect) => {
    const server = await startRoutesServer([route.bind(null)], { isDirect })
    const { hostname, port } = new URL(server.url)
    const answers = Array.from({ length: 20 }, () => probeServer(connect(Number(port), hostname)))
    // The system completes their handshakes; nothing is accepted before this turn of the event loop
    // ends.
    await new Promise((connected) => process.nextTick(connected))
    await server.stop(DRAIN_MS)
    for (const answer of await Promise.all(answers)) expect(answer).toContain('HTTP/1.1 200')
  },
)

test('a request that is refused as its handler runs too long is not answered twice, and nothing is printed', async () => {
  const begun = Promise.withResolvers<undefined>()
  const source = Promise.withResolvers<undefined>()
  const printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
  const slow = routesOf<null>().route({
    method: 'GET',
    path: '/slow',
    roles: 'anyone',
    handler: 'test',
    summary: 'A test',
    answers: {},
    answer: async () => {
      begun.resolve(undefined)
      await source.promise
      return jsonAnswer({})
    },
  })
  const server = await startRoutesServer([slow.bind(null)], { isDirect: false })
  const answer = ask(server.url, { path: '/slow' })
  await begun.promise
  const stopped = server.stop(1)
  expect((await answer).status).toBe(503)
  source.resolve(undefined)
  await stopped
  await new Promise(setImmediate)
  expect(server.finished).toHaveLength(1)
  expect(printed).not.toHaveBeenCalled()
})

function probeServer(socket: Socket): Promise<string> {
  socket.write('GET /one HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
  return new Promise((resolve) => {
    socket.once('error', ({ message }) => resolve(message)).once('close', () => resolve(answer))
  })
}
