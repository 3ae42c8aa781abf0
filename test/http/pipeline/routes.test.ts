import { createHash } from 'node:crypto'

import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'

import type { Role } from '../../../src/config/sections/roles.js'
import { AppError } from '../../../src/errors/app-error.js'
import { jsonAnswer } from '../../../src/http/exchange/json-answer.js'
import { jsonBody } from '../../../src/http/input/body-reader.js'
import { numberOf } from '../../../src/http/input/path-parameter.js'
import { routesOf } from '../../../src/http/pipeline/define-routes.js'
import { guardRoutes } from '../../../src/http/pipeline/guarded-routes.js'
import { mountRoutes } from '../../../src/http/web-application.js'
import { makeFindDirectRoute } from '../../../src/http/pipeline/find-direct-route.js'
import type { Route, RouteDescription } from '../../../src/http/pipeline/route.js'
import { ask } from '../../support/http-client.js'
import type { Answered } from '../../support/http-client.js'
import { startRoutesServer } from '../../support/routes-server.js'
import type { RoutesServer } from '../../support/routes-server.js'
import { examplePath, servedRoutes, unansweredRoutes } from '../../support/served-routes.js'

interface Deps {
  readonly maxBodyBytes: number
}

const { route, directRoute } = routesOf<Deps>()
const TOKENS = (['orchestrator', 'auditor', 'admin'] as const).map((role) => ({
  name: role,
  roles: [role],
  sha256: createHash('sha256').update(role).digest('hex'),
}))
const HEAD = { method: 'GET', handler: 'test', summary: 'A test', answers: {} } as const

let server: RoutesServer | undefined
afterEach(() => server?.stop(0))

async function serve(routes: readonly Route<Deps>[], hasTokens: boolean, isDirect = true): Promise<void> {
  const bound = routes.map((each) => each.bind({ maxBodyBytes: 1000 }))
  server = await startRoutesServer(bound, { tokens: hasTokens ? TOKENS : [], isDirect })
}

function get(path: string, token?: string, method = 'GET'): Promise<Answered> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return ask(server?.url ?? '', { path, method, headers })
}

/** Creates a row of each kind, at `/one` and `/two`. */
function bothKinds(row: Pick<RouteDescription, 'roles' | 'reserves401ForDenials'>): Route<Deps>[] {
  return [
    route({ ...HEAD, ...row, path: '/one', answer: () => jsonAnswer({}) }),
    directRoute({
      ...HEAD,
      ...row,
      path: '/two',
      answerOn: (_, exchange) => {
        exchange.send(200, '{}\n')
        return Promise.resolve()
      },
    }),
  ]
}

async function statuses(token?: string): Promise<number[]> {
  return [(await get('/one', token)).status, (await get('/two', token)).status]
}

describe.each([true, false])('with the direct route: %s, a route', (isDirect) => {
  it.each([{}, { roles: [] as Role[] }])(
    'that names no role (%j) is closed to everybody',
    async (nothing) => {
      await serve(bothKinds(nothing), true, isDirect)
      for (const token of ['admin', 'orchestrator', 'wrong', undefined])
        expect(await statuses(token)).toEqual([403, 403])
      expect((await get('/one', 'admin')).text).toContain('"route_closed"')
      await server?.stop(0)
      await serve(bothKinds(nothing), false, isDirect)
      expect(await statuses()).toEqual([403, 403])
    },
  )

  it('that says so is open to anyone, whatever token comes with it', async () => {
    await serve(bothKinds({ roles: 'anyone' }), true, isDirect)
    for (const token of ['auditor', 'wrong', undefined]) expect(await statuses(token)).toEqual([200, 200])
  })

  it('is open to its roles and to admins, and to everybody where there are no tokens', async () => {
    await serve(bothKinds({ roles: ['auditor'] }), true, isDirect)
    expect(await statuses('auditor')).toEqual([200, 200])
    expect(await statuses('admin')).toEqual([200, 200])
    expect(await statuses('orchestrator')).toEqual([403, 403])
    expect(await statuses('wrong')).toEqual([401, 401])
    expect(await statuses()).toEqual([401, 401])
    await server?.stop(0)
    await serve(bothKinds({ roles: ['auditor'] }), false, isDirect)
    expect(await statuses()).toEqual([200, 200])
  })

  it('whose 401 means denied answers 403 to a token that is missing or wrong', async () => {
    await serve(bothKinds({ roles: ['auditor'], reserves401ForDenials: true }), true, isDirect)
    expect(await statuses('wrong')).toEqual([403, 403])
    expect(await statuses()).toEqual([403, 403])
  })

  it('tells other methods which there are, before it asks who calls', async () => {
    await serve(bothKinds({ roles: ['auditor'] }), true, isDirect)
    for (const method of ['POST', 'OPTIONS', 'PATCH']) {
      const answers = [await get('/one', undefined, method), await get('/two', undefined, method)]
      expect(answers.map(({ status, headers }) => [status, headers.allow])).toEqual([
        [405, 'GET, HEAD'],
        [405, 'GET'],
      ])
    }
    expect((await get('/one', 'auditor', 'HEAD')).status).toBe(200)
    expect((await get('/two', 'auditor', 'HEAD')).status).toBe(405)
  })

  it('that is a probe takes HEAD, too', async () => {
    const probe = directRoute({
      ...HEAD,
      ...{ roles: 'anyone', isProbe: true, path: '/two' },
      answerOn: (_, exchange) => exchange.send(200, '{}\n'),
    })
    await serve([probe], true, isDirect)
    expect((await get('/two', undefined, 'POST')).headers.allow).toBe('GET, HEAD')
    expect(await get('/two', undefined, 'HEAD')).toMatchObject({ status: 200, text: '' })
    expect(await get('/two')).toMatchObject({ status: 200, text: '{}\n' })
  })

  it('is labelled for the metrics even where it refuses', async () => {
    await serve(bothKinds({ roles: ['auditor'] }), true, isDirect)
    await statuses()
    expect(server?.finished.map(({ handler }) => handler)).toEqual(['test', 'test'])
  })
})

describe('what a row names', () => {
  const row = route({
    ...HEAD,
    method: 'POST',
    path: '/gates/:id',
    roles: ['auditor'],
    params: { id: numberOf('gate') },
    query: z.strictObject({ limit: z.coerce.number().int() }),
    body: jsonBody(z.strictObject({ name: z.string() })),
    answer: ({ params, query, body }) => jsonAnswer({ ...params, ...query, ...body }),
  })
  const post = (path: string, body: string, token = 'auditor'): Promise<Answered> =>
    ask(server?.url ?? '', {
      path,
      body,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    })

  it('is read and checked before its handler is asked', async () => {
    await serve([row], true)
    expect((await post('/gates/7?limit=5', '{"name":"ana"}')).text).toBe('{"id":7,"limit":5,"name":"ana"}\n')
  })

  it.each([
    ['the caller', '/gates/x?limit=x', '[', 'wrong', 401],
    ['the path', '/gates/x?limit=x', '[', 'auditor', 404],
    ['the query', '/gates/7?limit=x', '[', 'auditor', 400],
    ['the body', '/gates/7?limit=5', '{"name":1}', 'auditor', 400],
  ])('is refused where it is wrong, first of all for %s', async (what, path, body, token, status) => {
    await serve([row], true)
    const answer = await post(path, body, token)
    expect([what, answer.status]).toEqual([what, status])
  })
})

describe('a row that answers its failures itself', () => {
  const failing = (roles: readonly Role[]): Route<Deps> =>
    route({
      ...HEAD,
      path: '/one',
      roles,
      answer: () => {
        throw new AppError('conflict', 'no')
      },
      refused: (refusal) => {
        if (refusal.kind === 'forbidden') throw refusal
        return jsonAnswer({ refused: refusal.kind })
      },
      failed: (failure) => jsonAnswer({ failed: failure.kind }),
    })

  it.each([
    ['auditor', '{"failed":"conflict"}'],
    ['wrong', '{"refused":"unauthenticated"}'],
    ['orchestrator', '{"failed":"forbidden"}'],
  ])('answers 200 to the token %s, and tells the log', async (token, text) => {
    await serve([failing(['auditor'])], true)
    const answer = await get('/one', token)
    expect([answer.status, answer.text.trim()]).toEqual([200, text])
    expect(server?.finished[0]?.failure).toBeInstanceOf(AppError)
  })
})

describe('the routes of the service', () => {
  const routes = servedRoutes()
  const guarded = guardRoutes(unansweredRoutes(), { requests: () => Promise.resolve() })
  const app = mountRoutes(guarded)
  const find = makeFindDirectRoute(guarded)
  /** Returns the path of the row that the web application serves. */
  const inApplication = (method: string, path: string): string | undefined =>
    app.router.match(method, path)[0][0]?.[0][1].path

  it.each(routes.map((row) => [row.method, row.path, row] as const))(
    '%s %s says whom it is for, reads all of its path, and is found',
    (method, path, row) => {
      const credential = 'credential' in row
      expect(row.roles === undefined || row.roles.length === 0).toBe(credential)
      const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
      expect(Object.keys(row.params ?? {}).sort()).toEqual(names.sort())
      expect(inApplication(method, examplePath(path))).toBe(path)
    },
  )

  it('are found quickly where the web application finds them, and nowhere else', () => {
    const words = fc.constantFrom(
      'v1',
      'v0',
      'data',
      'staticPolicy',
      'eval',
      'platform',
      'echo',
      'health',
      'opa',
      'failOpen',
      'a',
      '%2F',
      '**',
    )
    const direct = new Set(
      guarded.filter(({ kind }) => kind === 'direct').map(({ method, path }) => `${method} ${path}`),
    )
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST'), fc.array(words, { maxLength: 5 }), (method, segments) => {
        const path = `/${segments.join('/')}`
        const found = inApplication(method, path)
        expect(find(method, path)?.path).toBe(direct.has(`${method} ${found}`) ? found : undefined)
      }),
      { numRuns: 500 },
    )
  })
})
