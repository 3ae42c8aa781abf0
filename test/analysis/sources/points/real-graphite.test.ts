import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { graphiteNote, hasGraphite, startGraphite } from '../../../support/graphite-server.js'
import { MINUTE_MS, openSource } from '../../../support/open-source.js'
import type { OpenSource } from '../../../support/open-source.js'

/** Graphite keeps the last day. */
const FROM_MS = Math.floor(Date.now() / MINUTE_MS - 60) * MINUTE_MS
const WINDOW = { startMs: FROM_MS, endMs: FROM_MS + 10 * MINUTE_MS }
const NAMES = ['shop.web-1.latency', 'shop.web_1.latency', 'shop.api.latency']

/** The position of the name, but for the fourth minute; and other values around the window. */
function pointsOf(position: number): [number, number][] {
  return Array.from({ length: 14 }, (_, index): [number, number] => {
    const minute = index - 2
    return [FROM_MS / 1000 + minute * 60, minute < 0 || minute >= 10 ? 99 : position]
  }).filter((_, index) => index !== 5)
}

describe.skipIf(!hasGraphite)(`a real Graphite${graphiteNote}`, () => {
  let server: Awaited<ReturnType<typeof startGraphite>>
  let source: OpenSource

  beforeAll(async () => {
    server = await startGraphite(
      Object.fromEntries(NAMES.map((name, position) => [name, pointsOf(position)])),
    )
    source = openSource({ type: 'graphite', url: server.url })
  })
  afterAll(async () => {
    await source.close()
    await server.stop()
  })

  test.each([
    { pod: 'web-1', position: 0 },
    { pod: 'web_1', position: 1 },
    { pod: 'api', position: 2 },
  ])('has the values of $pod within the window, and nothing from beside it', async ({ pod, position }) => {
    const answer = await source.fetchSeries({ query: 'shop.${pod}.latency', scope: { pod }, ...WINDOW })
    const gapAt = (minute: number): number => (minute === 3 ? Number.NaN : position)
    expect(answer).toMatchObject({ state: 'complete', reasons: [], warnings: [] })
    expect([...answer.values]).toEqual(Array.from({ length: 10 }, (_, minute) => gapAt(minute)))
  })

  test('joins series by its own functions, or by the aggregate', async () => {
    const own = await source.fetchSeries({ query: 'sumSeries(shop.*.latency)', ...WINDOW })
    const joined = await source.fetchSeries({ query: 'shop.*.latency', aggregate: 'sum', ...WINDOW })
    expect(own.values[0]).toBe(3)
    expect(joined.values).toEqual(own.values)
    const { reasons } = await source.fetchSeries({ query: 'shop.*.latency', ...WINDOW })
    expect(reasons[0]).toContain('the query gives 3 series')
  })

  test('has nothing of a name that is not there', async () => {
    expect(await source.fetchSeries({ query: 'shop.none.latency', ...WINDOW })).toMatchObject({
      state: 'empty',
    })
  })
})
