import { afterEach, describe, expect, test } from 'vitest'

import { respondJson } from '../../../support/loopback-server.js'
import type { Respond, SeenRequest } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources } from '../../../support/open-source.js'
import { KINDS, searched } from './recorded-kinds.js'
import type { Kind } from './recorded-kinds.js'

const served = new Map(KINDS.map(({ type }) => [type, makeServedSources(type)]))
afterEach(async () => {
  for (const { closeAll } of served.values()) await closeAll()
})

function open(
  { type, settings }: Kind,
  respond: Respond,
): ReturnType<ReturnType<typeof makeServedSources>['open']> {
  return served.get(type)!.open(respond, settings)
}

const SCOPE = { app: 'shop' }
const answering =
  (answer: unknown): Respond =>
  (_, response) =>
    respondJson(response, 200, answer)

describe.each(KINDS)('a source of the type $type', (kind) => {
  test('asks as its server expects it, and puts values onto the steps', async () => {
    const { source, server } = await open(kind, answering(kind.answer))
    const answer = await source.fetchSeries({ query: kind.query, scope: SCOPE })
    expect(answer).toMatchObject({ state: 'complete', reasons: [], startMs: START_MS, stepMs: MINUTE_MS })
    expect([...answer.values]).toEqual([1, NaN, 3, NaN, NaN, NaN, NaN, NaN, NaN, NaN])
    expect(server.seen.map(kind.sent)).toEqual([kind.expected])
  })

  test.each([null, 7, 'text', [], [[]], {}, { data: 1 }, { results: [{}, {}] }, { series: [[]] }])(
    'says so where the answer is %j',
    async (strange) => {
      const { source } = await open(kind, answering(strange))
      const { state, values } = await source.fetchSeries({ query: kind.query, scope: SCOPE })
      expect(['failed', 'empty']).toContain(state)
      expect(values.every(Number.isNaN)).toBe(true)
    },
  )
})

const END_MS = START_MS + 10 * MINUTE_MS
test.each([
  ['web', `/stats/shop?from=${START_MS / 1000}&to=${END_MS / 1000}`],
  ['influxdb', `(time >= ${START_MS}ms AND time < ${END_MS}ms)`],
  ['newrelic', `TIMESERIES 60 SECONDS SINCE ${START_MS} UNTIL ${END_MS}`],
])('a query of %s is told as it was sent, with its window', async (type, sent) => {
  const kind = KINDS.find((one) => one.type === type)!
  const { source } = await open(kind, answering(kind.answer))
  expect((await source.fetchSeries({ query: kind.query, scope: SCOPE })).query).toContain(sent)
  const refused = await open(kind, (_, response) => response.writeHead(403).end())
  const { state, query } = await refused.source.fetchSeries({ query: kind.query, scope: SCOPE })
  expect([state, query.includes(sent)]).toEqual(['failed', true])
})

test.each(KINDS.filter(({ several }) => several !== undefined))(
  'several series of $type that nothing joins are refused',
  async (kind) => {
    const { source } = await open(kind, answering(kind.several))
    const answer = await source.fetchSeries({ query: kind.query, scope: SCOPE })
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toMatch(/^the query gives 2 series \(.+\): join them/)
  },
)

test.each(KINDS.filter(({ refusal }) => refusal !== undefined))(
  'a query that $type refused is told with the reason',
  async (kind) => {
    const [refusal, reason] = kind.refusal!
    const { source } = await open(kind, answering(refusal))
    expect(await source.fetchSeries({ query: kind.query, scope: SCOPE })).toMatchObject({
      ...{ state: 'failed', reasons: [reason] },
    })
  },
)

describe('a value of the scope that could be more than a value', () => {
  const STRANGE = ["x' OR 1=1 --", 'a,b}', 'x"),x(', '*', 'a b', 'a\nb', '${app}']
  const kindOf = (type: string): Kind => KINDS.find((kind) => kind.type === type)!
  const askWith = async (type: string, app: string): Promise<readonly [string, SeenRequest | undefined]> => {
    const kind = kindOf(type)
    const { source, server } = await open(kind, (_, response) => respondJson(response, 200, kind.answer))
    const { state } = await source.fetchSeries({ query: kind.query, scope: { app } })
    return [state, server.seen[0]]
  }

  test.each(['graphite', 'datadog', 'wavefront', 'atlas'])(
    'is refused where %s knows no escapes',
    async (type) => {
      for (const app of STRANGE) expect(await askWith(type, app), app).toEqual(['failed', undefined])
    },
  )

  test('is a text in InfluxQL and NRQL', async () => {
    const [, influx] = await askWith('influxdb', "x' OR 1=1 --")
    expect(searched(influx!)).toMatchObject({
      q: expect.stringContaining(`"app" = 'x\\' OR 1=1 --' AND (time`) as string,
    })
    const [, newRelic] = await askWith('newrelic', "x' OR 1=1 --")
    expect(newRelic!.body).toContain(`appName = 'x\\\\' OR 1=1 --' TIMESERIES`)
    expect(await askWith('newrelic', '50%')).toEqual(['failed', undefined])
    expect(await askWith('influxdb', 'a\nb')).toEqual(['failed', undefined])
  })

  test('is a word of a search of SignalFx, and a value of a dimension', async () => {
    const [, signalFx] = await askWith('signalfx', 'a OR *')
    expect(searched(signalFx!)).toMatchObject({ query: 'sf_metric:latency AND app:a\\ OR\\ \\*' })
    const [, cloudWatch] = await askWith('cloudwatch', 'x"}')
    expect(cloudWatch!.body).toContain(String.raw`"Value":"app/x\"}"`)
  })

  test('is one name in the path of a URL', async () => {
    const [, web] = await askWith('web', '../secret?x=1#y')
    expect(web!.url).toMatch(/^\/stats\/\.\.%2Fsecret%3Fx%3D1%23y\?from=/)
    expect(await askWith('web', '..')).toEqual(['failed', undefined])
  })
})
