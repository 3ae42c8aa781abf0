import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { hasInflux, influxNote, startInflux } from '../../../support/influxdb-server.js'
import { MINUTE_MS, START_MS, openSource } from '../../../support/open-source.js'
import type { OpenSource } from '../../../support/open-source.js'

/** Names that would break out of a string, a name or a pattern. */
const PODS = ['web-1', "a'b", 'a"b', 'a\\b', 'web.1', 'webx1', '.*', 'a/b', "x' OR '1'='1"]
const QUERY = (where: string): string =>
  `SELECT mean("value") FROM "latency" WHERE ${where} AND $timeFilter GROUP BY time($__interval) fill(none)`

/** One gauge a pod, its value the position of the pod, twice a minute. */
function lines(): string {
  const escapeTag = (text: string): string => text.replace(/[ ,=]/g, '\\$&')
  return PODS.flatMap((pod, position) =>
    Array.from(
      { length: 20 },
      (_, half) => `latency,pod=${escapeTag(pod)} value=${position} ${START_MS + half * (MINUTE_MS / 2)}`,
    ),
  ).join('\n')
}

describe.skipIf(!hasInflux)(`a real InfluxDB${influxNote}`, () => {
  let server: Awaited<ReturnType<typeof startInflux>>
  let source: OpenSource

  beforeAll(async () => {
    server = await startInflux('web', lines())
    source = openSource({ type: 'influxdb', url: server.url, database: 'web' })
  })
  afterAll(async () => {
    await source.close()
    await server.stop()
  })

  test.each(PODS.map((pod, position) => ({ pod, position })))(
    'finds the values of $pod alone',
    async ({ pod, position }) => {
      for (const where of [`"pod" = '\${pod}'`, '"pod" =~ /^${pod}$/']) {
        const answer = await source.fetchSeries({ query: QUERY(where), scope: { pod } })
        expect(answer, where).toMatchObject({ state: 'complete', reasons: [] })
        expect([...answer.values]).toEqual(new Array(10).fill(position))
      }
    },
  )

  test('has no values of a pod that is not there', async () => {
    const query = QUERY(`"pod" = '\${pod}'`)
    expect(await source.fetchSeries({ query, scope: { pod: 'other' } })).toMatchObject({ state: 'empty' })
  })

  test('describes the problem of a query', async () => {
    const { state, reasons } = await source.fetchSeries({
      query: 'SELECT mean(value FROM x WHERE $timeFilter',
    })
    expect(state).toBe('failed')
    expect(reasons[0]).toMatch(/^main answered 400: .*error parsing query/)
  })

  test('refuses several series', async () => {
    const query = 'SELECT mean("value") FROM "latency" WHERE $timeFilter GROUP BY time($__interval), "pod"'
    const { reasons } = await source.fetchSeries({ query })
    expect(reasons[0]).toContain(`the query gives ${PODS.length} series`)
  })
})
