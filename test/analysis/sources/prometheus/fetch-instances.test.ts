import { afterEach, describe, expect, test } from 'vitest'

import { INSTANCE_SEPARATOR } from '../../../../src/analysis/sources.js'
import { MINUTE_MS, START_MS, makeServedSources } from '../../../support/open-source.js'
import { answeringJson, matrix } from './recorded-answers.js'

const { open, closeAll } = makeServedSources('prometheus')
afterEach(closeAll)

const at = (minute: number, value = '1'): readonly [number, string] => [START_MS / 1000 + 60 * minute, value]
const result = (...series: object[]): object => ({
  ...{ status: 'success', data: { resultType: 'matrix', result: series } },
})

describe('the instances of a window', () => {
  test('are the series of a range query, with the times of their first and last values', async () => {
    const answer = matrix([at(0, '5'), at(10, '5')], [at(4, '9'), at(10, '9')])
    const { source, server } = await open(answeringJson(200, answer))
    const query = { query: 'start{track="${track}"}', scope: { track: 'stable' } }
    expect(await source.fetchInstances(query)).toEqual({
      instances: [
        { name: 'web-0', firstMs: START_MS, lastMs: START_MS + 10 * MINUTE_MS, value: 5 },
        { name: 'web-1', firstMs: START_MS + 4 * MINUTE_MS, lastMs: START_MS + 10 * MINUTE_MS, value: 9 },
      ],
    })
    expect(Object.fromEntries(new URLSearchParams(server.seen[0]!.body))).toMatchObject({
      query: 'start{track="stable"}',
      end: `${START_MS / 1000 + 600}.000`,
    })
  })

  test('may have several series each, as of their containers', async () => {
    const series = [[at(3)], [at(0), at(10)]].map((values) => ({ metric: { pod: 'a' }, values }))
    const { source } = await open(answeringJson(200, result(...series)))
    expect(await source.fetchInstances({})).toMatchObject({
      instances: [{ name: 'a', firstMs: START_MS, lastMs: START_MS + 10 * MINUTE_MS }],
    })
  })

  test.each([
    [
      'a series without the label',
      200,
      result({ metric: { job: 'x' }, values: [at(0)] }),
      'has no label pod',
    ],
    [
      'another kind of answer',
      200,
      { status: 'success', data: { resultType: 'vector', result: [] } },
      'vector',
    ],
    ['a refusal', 400, { status: 'error', errorType: 'bad_data', error: 'parse error' }, 'parse error'],
  ])('are not known from %s', async (_, status, answer, problem) => {
    const { source } = await open(answeringJson(status, answer))
    expect(await source.fetchInstances({})).toEqual({ problem: expect.stringContaining(problem) as string })
  })

  test('are not known if the query cannot be filled', async () => {
    const { source } = await open(answeringJson(200, matrix()))
    expect(await source.fetchInstances({ query: 'up{a="${b}"}' })).toEqual({
      problem: expect.stringContaining('${b} is not in the scope') as string,
    })
  })
})

describe('a query of several instances', () => {
  const scope = { pod: ['web.1', 'web-2'].join(INSTANCE_SEPARATOR) }

  test('matches each of them by a regular expression', async () => {
    const { source } = await open(answeringJson(200, matrix([at(0)])))
    const { query } = await source.fetchSeries({ query: 'up{pod=~"${pod}"}', scope })
    expect(query).toBe(String.raw`up{pod=~"(?:web\\.1|web\\-2)"}`)
  })

  test.each(['up{pod="${pod}"}', 'up and ${pod}'])('is refused as %s', async (query) => {
    const { source } = await open(answeringJson(200, matrix([at(0)])))
    expect(await source.fetchSeries({ query, scope })).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining('names several instances') as string],
    })
  })
})
