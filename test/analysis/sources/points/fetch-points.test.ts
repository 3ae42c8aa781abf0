import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { Respond } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources, window } from '../../../support/open-source.js'

const START_S = START_MS / 1000
const graphite = makeServedSources('graphite')
const newRelic = makeServedSources('newrelic')
const cloudWatch = makeServedSources('cloudwatch')
const influx = makeServedSources('influxdb')
afterEach(async () => {
  for (const { closeAll } of [graphite, newRelic, cloudWatch, influx]) await closeAll()
})

function points(everySeconds: number, count: number): Respond {
  const datapoints = Array.from({ length: count }, (_, index) => [index, START_S + index * everySeconds])
  return (_, response) => respondJson(response, 200, [{ target: 'a', datapoints }])
}

describe('values at times that the server chose', () => {
  test('are joined within a step as the aggregate says, and refused without one', async () => {
    const { source } = await graphite.open(points(20, 30))
    expect(await source.fetchSeries({ query: 'a' })).toMatchObject({
      state: 'failed',
      reasons: [
        'steps with several values: 10; say how they are joined (aggregate: sum, average, min or max)',
      ],
    })
    const average = await source.fetchSeries({ query: 'a', aggregate: 'average' })
    expect([...average.values]).toEqual([1, 4, 7, 10, 13, 16, 19, 22, 25, 28])
  })

  test('are one where a point comes twice', async () => {
    const datapoints = [0, 0, 60, 60].map((seconds) => [seconds, START_S + seconds])
    const { source } = await graphite.open((_, response) =>
      respondJson(response, 200, [{ target: 'a', datapoints }]),
    )
    const { state, values } = await source.fetchSeries({ query: 'a', ...window(2) })
    expect([state, [...values]]).toEqual(['complete', [0, 60]])
  })

  test('are told to be coarser than the steps', async () => {
    const { source } = await graphite.open(points(300, 2))
    const answer = await source.fetchSeries({ query: 'a' })
    expect([...answer.values]).toEqual([0, NaN, NaN, NaN, NaN, 1, NaN, NaN, NaN, NaN])
    expect(answer.warnings).toEqual([
      'the server has a value every 300 s, and steps are of 60 s: the steps between are gaps; set stepSeconds to 300',
    ])
  })

  test('beyond the window are left out', async () => {
    const { source } = await graphite.open(points(60, 12))
    const answer = await source.fetchSeries({ query: 'a', ...window(10) })
    expect(answer).toMatchObject({ state: 'complete' })
    expect(answer.values).toHaveLength(10)
  })
})

describe('a window that is too long for one request', () => {
  test('is requested in parts', async () => {
    const results = (nrql: string): unknown[] => {
      const [, since, until] = /SINCE (\d+) UNTIL (\d+)/.exec(nrql)!.map(Number)
      const count = (until! - since!) / MINUTE_MS
      return Array.from({ length: count }, (_, index) => ({
        beginTimeSeconds: since! / 1000 + index * 60,
        count: 1,
      }))
    }
    const { source, server } = await newRelic.open(
      ({ body }, response) => {
        const { variables } = JSON.parse(body) as { variables: { nrql: string } }
        respondJson(response, 200, {
          data: { actor: { account: { nrql: { results: results(variables.nrql) } } } },
        })
      },
      { account: 1 },
    )
    const answer = await source.fetchSeries({ query: 'SELECT count(*) FROM Log', ...window(1000) })
    expect(answer.state).toBe('complete')
    expect(answer.values).toEqual(new Float64Array(1000).fill(1))
    expect(server.seen).toHaveLength(3)
  })

  test('refuses a query with a window of its own', async () => {
    const { source, server } = await newRelic.open((_, response) => respondJson(response, 200, {}), {
      account: 1,
    })
    expect(await source.fetchSeries({ query: 'SELECT count(*) FROM Log SINCE 1 day ago' })).toMatchObject({
      reasons: ['main: leave TIMESERIES, SINCE and UNTIL out of the query: they are added to it'],
    })
    expect(server.seen).toHaveLength(0)
  })
})

describe('an answer in pages', () => {
  const settings = { region: 'eu-central-1', accessKeyId: 'AKID', secretAccessKey: new Secret('secret') }
  const page = (token: string | undefined, minute: number): object => ({
    NextToken: token,
    MetricDataResults: [{ Label: 'a', Timestamps: [START_S + minute * 60], Values: [minute] }],
  })

  test('is read to its end', async () => {
    const { source, server } = await cloudWatch.open(({ body }, response) => {
      const { NextToken } = JSON.parse(body) as { NextToken?: string }
      respondJson(response, 200, NextToken === undefined ? page('more', 0) : page(undefined, 1))
    }, settings)
    const answer = await source.fetchSeries({
      query: 'SELECT AVG(CPUUtilization) FROM "AWS/EC2"',
      ...window(2),
    })
    expect([...answer.values]).toEqual([0, 1])
    expect(server.seen).toHaveLength(2)
  })

  test('without an end is given up, and reported', async () => {
    const { source, server } = await cloudWatch.open(
      (_, response) => respondJson(response, 200, page('again', 0)),
      settings,
    )
    const query = { query: 'SEARCH(x)', ...window(2), aggregate: 'max' } as const
    expect(await source.fetchSeries(query)).toMatchObject({
      state: 'incomplete',
      reasons: ['the answer has more than 100 pages: the rest was not requested'],
    })
    expect(server.seen).toHaveLength(100)
  })

  test('describes the problem of a metric', async () => {
    const { source } = await cloudWatch.open((_, response) => respondJson(response, 200, {}), settings)
    const { reasons } = await source.fetchSeries({ query: '{"namespace": "AWS/EC2", "statistic": "p99"}' })
    expect(reasons[0]).toMatch(/no metric of CloudWatch: metricName .*(?:required|must).*statistic/)
  })
})

test('a query of InfluxDB must say where the window goes', async () => {
  const { source } = await influx.open((_, response) => respondJson(response, 200, {}), { database: 'web' })
  expect(await source.fetchSeries({ query: 'SELECT mean(value) FROM latency' })).toMatchObject({
    reasons: ['main: the query has no $timeFilter: write it into its WHERE clause'],
  })
})
