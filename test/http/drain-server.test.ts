import { connect } from 'node:net'

import { expect, it } from 'vitest'

import { jsonAnswer } from '../../src/http/exchange/json-answer.js'
import { routesOf } from '../../src/http/pipeline/define-routes.js'
import { ask } from '../support/http-client.js'
import { startRoutesServer } from '../support/routes-server.js'

const DRAIN_MS = 20_000

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
  'a server that stops does not wait for connections that have asked nothing (quick match: %s)',
  async (isQuick) => {
    const server = await startRoutesServer([route.bind(null)], { isQuick })
    const { hostname, port } = new URL(server.url)
    const silent = connect(Number(port), hostname).resume()
    const ended = new Promise((resolve) => silent.once('close', resolve))
    expect((await ask(server.url, { path: '/one' })).status).toBe(200)
    const from = performance.now()
    await server.stop(DRAIN_MS)
    await ended
    expect(performance.now() - from).toBeLessThan(DRAIN_MS / 2)
  },
)
