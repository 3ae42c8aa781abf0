import { afterEach, expect, it, vi } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { tooManyWait } from '../../../src/http/exchange/line-pace.js'
import { jsonAnswer } from '../../../src/http/exchange/json-answer.js'
import { routesOf } from '../../../src/http/pipeline/define-routes.js'
import type { RouteDescription } from '../../../src/http/pipeline/route.js'
import { PageTurns } from '../../../src/http/transport/page-turns.js'
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
): Promise<{ url: string; take: ReturnType<typeof vi.fn<PageTurns['take']>>; end: () => void }> {
  server = await startRoutesServer([route({ ...ROW, ...row, answer }).bind(undefined)], {})
  const end = vi.fn()
  const take = vi.fn<PageTurns['take']>(() => Promise.resolve(end))
  vi.spyOn(PageTurns.prototype, 'take').mockImplementation(take)
  return { url: server.url, take, end }
}

it.each(['GET', 'HEAD'])(
  'a list that %s asks for is made in its turn, which ends with it',
  async (method) => {
    const { url, take, end } = await serve({ method: 'GET' })
    expect(await ask(url, { path: '/list', method })).toMatchObject({ status: 200 })
    expect(take).toHaveBeenCalledOnce()
    expect(end).toHaveBeenCalledOnce()
  },
)

it('its turn ends where it fails, too', async () => {
  const { url, end } = await serve({ method: 'GET' }, () => {
    throw new AppError('not_found', 'nothing here')
  })
  expect(await ask(url, { path: '/list' })).toMatchObject({ status: 404 })
  expect(end).toHaveBeenCalledOnce()
})

it('it is refused where its turn would come too late', async () => {
  let made = 0
  const { url, take } = await serve({ method: 'GET' }, () => jsonAnswer({ made: (made += 1) }))
  take.mockImplementation(() => Promise.reject(tooManyWait()))
  const answer = await ask(url, { path: '/list' })
  expect([answer.status, answer.headers['retry-after'], made]).toEqual([503, '5', 0])
})

it.each<Pick<RouteDescription, 'method' | 'isPolled'>>([
  { method: 'GET', isPolled: true },
  { method: 'POST' },
  { method: 'PUT' },
  { method: 'DELETE' },
])('%j waits for nobody who asks for pages', async (row) => {
  const { url, take } = await serve(row)
  expect(await ask(url, { path: '/list', method: row.method })).toMatchObject({ status: 200 })
  expect(take).not.toHaveBeenCalled()
})
