import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { RunsQuery } from '../../../src/events/read-runs.js'
import { insightRoutes } from '../../../src/http/routes/trail/insights.js'
import type { Snapshot } from '../../../src/rego/index.js'
import type { Reader } from '../../../src/store/ports/readers.js'
import { ask, objectOf } from '../../support/http-client.js'
import { startRoutesServer } from '../../support/routes-server.js'
import type { RoutesServer } from '../../support/routes-server.js'

const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')

describe('the metrics of deliveries', () => {
  let server: RoutesServer
  const asked: RunsQuery[] = []
  // No test of these metrics reads the policies.
  const loaded = {} as Snapshot
  beforeEach(async () => {
    asked.length = 0
    const run = (_: unknown, query: RunsQuery): Promise<object> => {
      asked.push(query)
      return Promise.resolve({ runs: [], next: undefined })
    }
    const deps = {
      ...{ reader: { run } as unknown as Reader, now: () => NOW_MS, decisions: undefined },
      policies: { current: loaded },
    }
    server = await startRoutesServer(
      insightRoutes.map((route) => route.bind(deps)),
      {},
    )
  })
  afterEach(() => server.stop(0))

  test('are of thirty days up to now, and of what stood broken up to thirty days before', async () => {
    const answer = objectOf(await ask(server.url, { path: '/insights/delivery?application=shop' }))
    expect(answer).toMatchObject({ from: '2026-10-23T12:00:00.000Z', to: '2026-11-22T12:00:00.000Z' })
    for (const { application, fromMs, toMs } of asked)
      expect([application, new Date(fromMs).toISOString(), toMs]).toEqual([
        'shop',
        '2026-09-23T12:00:00.000Z',
        NOW_MS,
      ])
    expect(asked).not.toEqual([])
  })

  test.each([
    ['2026-11-22T12:00:00Z', 400],
    ['2026-11-23T00:00:00Z', 400],
    ['2026-11-22T11:59:59Z', 200],
  ])('that begin at %s are answered with %d', async (from, status) => {
    const answer = await ask(server.url, { path: `/insights/delivery?from=${from}` })
    expect(answer.status).toBe(status)
    expect(asked.length > 0).toBe(status === 200)
  })
})
