import { afterEach, expect, it, vi } from 'vitest'
import type { MockInstance } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { jsonAnswer } from '../../../src/http/exchange/json-answer.js'
import { routesOf } from '../../../src/http/pipeline/define-routes.js'
import type { RouteDescription } from '../../../src/http/pipeline/route.js'
import { PageQueue } from '../../../src/http/transport/page-queue.js'
import { queueFull } from '../../../src/http/transport/request-queue.js'
import { ask } from '../../support/http-client.js'
import { startRoutesServer } from '../../support/routes-server.js'
import type { RoutesServer } from '../../support/routes-server.js'

const { route } = routesOf<undefined>()
const ROW = { roles: 'anyone', path: '/list', handler: 'test', summary: 'A test', answers: {} } as const

let server: RoutesServer | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await server?.stop(0)
})

async function serve(
  row: Pick<RouteDescription, 'method' | 'isPolled'>,
  answer = (): Response => jsonAnswer({}),
): Promise<{ url: string; make: MockInstance<PageQueue['make']> }> {
  server = await startRoutesServer([route({ ...ROW, ...row, answer }).bind(undefined)], {})
  return { url: server.url, make: vi.spyOn(PageQueue.prototype, 'make') }
}

it.each(['GET', 'HEAD'])('a list that %s asks for waits for the pages of others', async (method) => {
  const { url, make } = await serve({ method: 'GET' })
  expect(await ask(url, { path: '/list', method })).toMatchObject({ status: 200 })
  expect(make).toHaveBeenCalledOnce()
})

it('a list that fails is an error', async () => {
  const { url } = await serve({ method: 'GET' }, () => {
    throw new AppError('not_found', 'nothing here')
  })
  expect(await ask(url, { path: '/list' })).toMatchObject({ status: 404 })
})

it('a list that would wait for too long is refused', async () => {
  let made = 0
  const { url, make } = await serve({ method: 'GET' }, () => jsonAnswer({ made: (made += 1) }))
  make.mockImplementation(() => Promise.reject(queueFull()))
  const answer = await ask(url, { path: '/list' })
  expect([answer.status, answer.headers['retry-after'], made]).toEqual([503, '5', 0])
})

it.each<Pick<RouteDescription, 'method' | 'isPolled'>>([
  { method: 'GET', isPolled: true },
  { method: 'POST' },
  { method: 'PUT' },
  { method: 'DELETE' },
])('%j waits for nobody who asks for pages', async (row) => {
  const { url, make } = await serve(row)
  expect(await ask(url, { path: '/list', method: row.method })).toMatchObject({ status: 200 })
  expect(make).not.toHaveBeenCalled()
})
