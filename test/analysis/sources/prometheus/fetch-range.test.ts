import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources, window } from '../../../support/open-source.js'
import { answering, answeringJson, matrix } from './recorded-answers.js'

const { open, closeAll } = makeServedSources('prometheus')
afterEach(closeAll)

describe('a series from Prometheus', () => {
  test('has one value a step, and is requested on the multiples of the step', async () => {
    const { source, server } = await open(answering(['1', '2.5', '1e3']))
    const answer = await source.fetchSeries({
      query: 'up{pod="${pod}"}',
      scope: { pod: 'a"b' },
      startMs: START_MS - 1000,
      endMs: START_MS + 3 * MINUTE_MS - 1000,
    })
    expect(answer).toEqual({
      state: 'complete',
      reasons: [],
      warnings: [],
      query: String.raw`up{pod="a\"b"}`,
      startMs: START_MS,
      stepMs: MINUTE_MS,
      values: Float64Array.of(1, 2.5, 1000),
      truncatedPoints: 0,
    })
    const { method, url, body } = server.seen[0]!
    expect({ method, url, form: Object.fromEntries(new URLSearchParams(body)) }).toEqual({
      method: 'POST',
      url: '/api/v1/query_range',
      form: {
        query: String.raw`up{pod="a\"b"}`,
        start: `${START_MS / 1000}.000`,
        end: `${START_MS / 1000 + 120}.000`,
        step: '60.000',
      },
    })
  })

  test('has gaps where steps are absent, "NaN" or infinite, and says how many were infinite', async () => {
    const at = (step: number): number => START_MS / 1000 + step * 60
    const { source } = await open((_, response) =>
      respondJson(
        response,
        200,
        matrix([
          [at(0), '1'],
          [at(2), 'NaN'],
          [at(3), '+Inf'],
          [at(4), '-Inf'],
          [at(5), '6'],
        ]),
      ),
    )
    const answer = await source.fetchSeries(window(7))
    expect([...answer.values]).toEqual([1, NaN, NaN, NaN, NaN, 6, NaN])
    expect(answer).toMatchObject({
      state: 'complete',
      warnings: ['infinite values, which count as gaps: 2'],
    })
  })

  test.each([
    ['an empty matrix', matrix()],
    ['nothing but NaN', matrix([[START_MS / 1000, 'NaN']])],
  ])('is empty for %s', async (_, json) => {
    const { source } = await open(answeringJson(200, json))
    expect(await source.fetchSeries({})).toMatchObject({ state: 'empty', reasons: [] })
  })

  test('that is long is requested in parts below the 11,000 points of the server', async () => {
    const { source, server } = await open((request, response) => {
      const form = new URLSearchParams(request.body)
      const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name)))
      const count = Math.floor((end! - start!) / step!) + 1
      const values = Array.from(
        { length: count },
        (_, index) => [start! + index * step!, String(index)] as const,
      )
      respondJson(response, count > 11_000 ? 400 : 200, matrix(values))
    })
    const answer = await source.fetchSeries({ ...window(25_000 / 60), stepMs: 1000 })
    expect(answer.state).toBe('complete')
    expect(server.seen).toHaveLength(3)
    expect([answer.values.length, answer.values[9999], answer.values[10_000], answer.values[24_999]]).toEqual(
      [25_000, 9999, 0, 4999],
    )
  })

  test('longer than the limit says how many steps are left out', async () => {
    const { source } = await open(answering(['1', '2', '3']), { maxPoints: 3 })
    expect(await source.fetchSeries(window(5))).toMatchObject({
      state: 'incomplete',
      reasons: ['the window has 5 steps and the limit (maxPoints) is 3: the last 2 are left out'],
      values: Float64Array.of(1, 2, 3),
      truncatedPoints: 2,
    })
  })

  test('keeps what was read when a later part fails, and says from when on nothing is known', async () => {
    const { source } = await open((_, response, nth) =>
      nth === 1
        ? respondJson(response, 200, matrix([[START_MS / 1000, '1']]))
        : respondJson(response, 422, { status: 'error', errorType: 'execution', error: 'too many samples' }),
    )
    const answer = await source.fetchSeries({ ...window(20_000 / 60), stepMs: 1000 })
    expect(answer.state).toBe('incomplete')
    expect(answer.reasons).toEqual([
      'main answered 422: execution: too many samples; nothing is known from 2026-11-21T08:46:40.000Z on',
    ])
    expect(answer.values[0]).toBe(1)
  })

  test('sends credentials and the tenant, and keeps the path of the URL', async () => {
    const credentials = { type: 'bearer', token: new Secret('t0ken') }
    const settings = { path: '/mimir/', tenant: 'team-a', credentials }
    const { source, server } = await open(answering(['1']), settings)
    await source.fetchSeries({})
    expect(server.seen[0]).toMatchObject({
      url: '/mimir/api/v1/query_range',
      headers: { 'x-scope-orgid': 'team-a', authorization: 'Bearer t0ken' },
    })
  })
})

describe('several series in one answer', () => {
  const at = START_MS / 1000
  const two = matrix(
    [
      [at, '1'],
      [at + 60, '5'],
    ],
    [[at, '3']],
  )

  test('are a failure that names them, since no way to join them is right for all', async () => {
    const { source } = await open(answeringJson(200, two))
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining('2 series (up{pod="web-0"}, up{pod="web-1"})')],
    })
  })

  test.each([
    ['sum', 4],
    ['average', 2],
    ['min', 1],
    ['max', 3],
  ] as const)('are joined by their %s when asked', async (aggregate, joined) => {
    const { source } = await open(answeringJson(200, two))
    const answer = await source.fetchSeries({ ...window(3), aggregate })
    expect([...answer.values]).toEqual([joined, 5, NaN])
  })

  test('are kept one by one when asked, in the order of their labels', async () => {
    const { source } = await open(answeringJson(200, two))
    const answer = await source.fetchSeries({ ...window(3), aggregate: 'units' })
    expect(answer.units?.map((unit) => [...unit])).toEqual([
      [1, 5, NaN],
      [3, NaN, NaN],
    ])
    expect([...answer.values]).toEqual([2, 5, NaN])
  })
})

describe('what a server remarks', () => {
  test('makes the answer incomplete when data may be missing', async () => {
    const warning = 'No StoreAPIs matched for this query: store-2 is unavailable'
    const { source } = await open(answering(['1'], { warnings: [warning] }))
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'incomplete',
      reasons: [`the server warns: ${warning}`],
      warnings: [warning],
    })
  })

  test('on how the query is written is only a warning', async () => {
    const remarks = {
      warnings: ['PromQL warning: mixed classic and native histograms'],
      infos: ['PromQL info: metric might not be a counter'],
    }
    const { source } = await open(answering(['1'], remarks))
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'complete',
      warnings: [...remarks.warnings, ...remarks.infos],
    })
  })
})
