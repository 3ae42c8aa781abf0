import { createHash } from 'node:crypto'

import { afterEach, describe, expect, it } from 'vitest'

import type { Role } from '../../../src/config/sections/roles.js'
import { exceptionRoutes } from '../../../src/http/routes/policies/exceptions.js'
import type { ExceptionRoutesDeps } from '../../../src/http/routes/policies/exceptions.js'
import { ask, objectOf } from '../../support/http-client.js'
import type { Answered } from '../../support/http-client.js'
import { loadPolicies } from '../../support/load-policies.js'
import { as } from '../../support/page-service.js'
import { startRoutesServer } from '../../support/routes-server.js'
import type { RoutesServer } from '../../support/routes-server.js'
import { useSqliteStore } from '../../support/service-store.js'

const open = useSqliteStore()
const NOW = '2027-06-01T12:00:00.000Z'
const DAY_MS = 86_400_000
const POLICIES = {
  'wait.rego': 'package static.wait\nimport rego.v1\ndeny contains "no" if input.new.wait\n',
  'lib.rego': 'package lib.shared\nimport rego.v1\nhelper := 1\n',
}
const token = (name: string, roles: readonly Role[]) => ({
  ...{ name, roles },
  sha256: createHash('sha256').update(`token-of-${name}`).digest('hex'),
})
const TOKENS = [
  token('ana', ['author']),
  token('bo', ['approver']),
  token('eve', ['auditor']),
  token('orca', ['orchestrator']),
  token('root', ['admin']),
]
const GOOD = { package: 'static.wait', application: 'shop', reason: 'migration', until: '2027-06-15' }

let server: RoutesServer | undefined
afterEach(() => server?.stop(0))

interface Service {
  readonly send: (user: string, method: string, path: string, body?: unknown) => Promise<Answered>
  readonly changes: () => number
}

async function start(settings: Partial<ExceptionRoutesDeps> = {}): Promise<Service> {
  const [store, snapshot] = [await open(), await loadPolicies(POLICIES)]
  let changes = 0
  const deps: ExceptionRoutesDeps = {
    policies: { current: snapshot },
    ...{ writer: store.writer, reader: store.reader, now: () => Date.parse(NOW) },
    ...{ approval: false, maxMs: 90 * DAY_MS, maxBodyBytes: 10_000 },
    changed: () => {
      changes += 1
      return Promise.resolve()
    },
    ...settings,
  }
  const started = await startRoutesServer(
    exceptionRoutes.map((route) => route.bind(deps)),
    { tokens: TOKENS },
  )
  server = started
  return {
    changes: () => changes,
    send: (user, method, path, body) =>
      ask(started.url, {
        ...{ method, path },
        headers: { ...as(user), ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}

describe('POST /exceptions', () => {
  it('adds an exception of the caller, and the same one only once', async () => {
    const { send, changes } = await start()
    const added = await send('bo', 'POST', '/exceptions', { ...GOOD, package: 'data.static.wait' })
    expect(added.status).toBe(201)
    expect(added.headers.location).toBe('/exceptions/1')
    expect(objectOf(added)).toEqual({
      ...GOOD,
      ...{ id: 1, owner: 'bo', state: 'active', createdAt: NOW, until: '2027-06-15T00:00:00.000Z' },
    })
    expect((await send('bo', 'POST', '/exceptions', GOOD)).status).toBe(200)
    const listed = await send('eve', 'GET', '/exceptions')
    expect(objectOf(listed)['exceptions']).toHaveLength(1)
    expect(listed.headers['cache-control']).toBe('no-store')
    expect(changes()).toBe(2)
  })

  it('reports all problems of a body together', async () => {
    const { send } = await start()
    const body = { package: 'static.wiat', pipeline: 'prod', reason: ' ', until: '2027-05-01', owner: 'root' }
    const { status, text } = await send('bo', 'POST', '/exceptions', body)
    expect(status).toBe(400)
    for (const problem of [
      'package must be a loaded package with a verdict, did you mean static.wait?',
      'pipeline needs application',
      'reason must',
      'until must be in the future',
      'owner',
    ])
      expect(text).toContain(problem)
  })

  it.each([
    ['without an end', { until: undefined }, 'until is required'],
    ['with an end that is no date', { until: 'soon' }, 'until must be a date'],
    ['with an end too far ahead', { until: '2028-06-01' }, 'at most 90 days ahead'],
    ['with an end in the past', { until: NOW }, 'until must be in the future'],
    ['without a reason', { reason: undefined }, 'reason is required'],
    ['for a package without a verdict', { package: 'lib.shared' }, 'must be a loaded package with a verdict'],
    ['for a pattern of packages', { package: 'static.**' }, 'must be a loaded package with a verdict'],
  ])('refuses one %s', async (_, changed, problem) => {
    const { send } = await start()
    const { status, text } = await send('bo', 'POST', '/exceptions', { ...GOOD, ...changed })
    expect(status).toBe(400)
    expect(text).toContain(problem)
  })

  it.each([null, [], 'x', 1, true])('refuses a body that is no object: %j', async (body) => {
    const { send } = await start()
    const { status, text } = await send('bo', 'POST', '/exceptions', body)
    expect(status).toBe(400)
    expect(text).toContain('the body must be an object')
  })

  it.each([
    ['ana', 403],
    ['eve', 403],
    ['orca', 403],
    ['bo', 201],
    ['root', 201],
  ])('needs the role approver without approvals: %s gets %i', async (user, status) => {
    const { send } = await start()
    expect((await send(user, 'POST', '/exceptions', GOOD)).status).toBe(status)
  })
})

describe('an exception that needs approval', () => {
  it('is pending until another person with the role approver approves it', async () => {
    const { send } = await start({ approval: true })
    const added = await send('ana', 'POST', '/exceptions', GOOD)
    expect([added.status, objectOf(added)['state']]).toEqual([201, 'pending'])
    expect((await send('ana', 'POST', '/exceptions/1/approve')).status).toBe(403)
    const approved = objectOf(await send('bo', 'POST', '/exceptions/1/approve'))
    expect(approved).toMatchObject({ state: 'active', owner: 'ana', approver: 'bo', approvedAt: NOW })
  })

  it('cannot be approved by its owner, even as an admin', async () => {
    const { send } = await start({ approval: true })
    await send('root', 'POST', '/exceptions', GOOD)
    const { status, text } = await send('root', 'POST', '/exceptions/1/approve')
    expect(status).toBe(403)
    expect(text).toContain('a second person must approve it')
  })
})

describe('DELETE /exceptions/{id}', () => {
  it('removes the own exception, and any as an approver', async () => {
    const { send } = await start({ approval: true })
    await send('ana', 'POST', '/exceptions', GOOD)
    await send('bo', 'POST', '/exceptions', GOOD)
    expect((await send('ana', 'DELETE', '/exceptions/2')).status).toBe(403)
    expect((await send('ana', 'DELETE', '/exceptions/1')).status).toBe(200)
    expect((await send('bo', 'DELETE', '/exceptions/1')).status).toBe(404)
    expect((await send('bo', 'DELETE', '/exceptions/2')).status).toBe(200)
    expect((await send('bo', 'DELETE', '/exceptions/x')).status).toBe(404)
  })
})

describe('GET /exceptions', () => {
  it('filters, and pages by id', async () => {
    const { send } = await start()
    for (const [application, until] of [
      ['shop', '2027-06-05'],
      ['pay', '2027-06-15'],
      ['shop', '2027-07-15'],
    ])
      await send('bo', 'POST', '/exceptions', { ...GOOD, application, until })
    const ids = async (query: string): Promise<unknown> => {
      const { text } = await send('eve', 'GET', `/exceptions${query}`)
      const page = JSON.parse(text) as { exceptions: { id: number }[]; nextCursor?: string }
      const found = page.exceptions.map(({ id }) => id)
      return page.nextCursor === undefined ? found : [...found, `next ${page.nextCursor}`]
    }
    expect(await ids('')).toEqual([1, 2, 3])
    expect(await ids('?application=SHOP')).toEqual([1, 3])
    expect(await ids('?expiring=7d')).toEqual([1])
    expect(await ids('?expiring=3w')).toEqual([1, 2])
    expect(await ids('?state=pending')).toEqual([])
    expect(await ids('?limit=2')).toEqual([1, 2, 'next 2'])
    expect(await ids('?limit=2&cursor=2')).toEqual([3])
    expect((await send('eve', 'GET', '/exceptions?expiring=soon')).status).toBe(400)
    expect((await send('orca', 'GET', '/exceptions')).status).toBe(403)
  })
})
