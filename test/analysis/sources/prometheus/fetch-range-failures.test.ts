import { afterEach, describe, expect, test } from 'vitest'

import type { Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources } from '../../../support/open-source.js'
import { answering, answeringJson, answeringText } from './recorded-answers.js'

const { open, closeAll } = makeServedSources('prometheus')
afterEach(closeAll)

describe('a series that cannot be had', () => {
  const cases: readonly { name: string; respond: Respond; reason: string }[] = [
    {
      name: 'the query is wrong',
      respond: answeringJson(400, { status: 'error', errorType: 'bad_data', error: '1:5: parse error' }),
      reason: 'main answered 400: bad_data: 1:5: parse error',
    },
    {
      name: 'credentials are refused',
      respond: answeringText(401, 'Unauthorized\n'),
      reason: 'main answered 401 (see its credentials): Unauthorized',
    },
    {
      name: 'a proxy shows a page',
      respond: answeringText(502, '<!DOCTYPE html><title>Bad Gateway</title>'),
      reason: 'main answered 502: an HTML page ("Bad Gateway"), as a proxy or a login form gives',
    },
    {
      name: 'text comes instead of JSON',
      respond: answeringText(200, 'Prometheus is Ready.\u001b[31m'),
      reason: 'main answered with malformed JSON: Prometheus is Ready. [31m',
    },
    {
      name: 'the JSON is of something else',
      respond: answeringJson(200, { status: 'success' }),
      reason: 'main: the answer is not the JSON of a range query',
    },
    {
      name: 'the result is no matrix',
      respond: answeringJson(200, { status: 'success', data: { resultType: 'string', result: [1, 'a'] } }),
      reason: 'main: the query gives a result of type "string", where a range of numbers is wanted',
    },
    {
      name: 'there are native histograms',
      respond: answeringJson(200, {
        status: 'success',
        data: { resultType: 'matrix', result: [{ metric: {}, histograms: [[1, {}]] }] },
      }),
      reason: 'main: the query gives native histograms: take a number from them, as histogram_quantile does',
    },
    {
      name: 'the server leads elsewhere',
      respond: (_, response) => response.writeHead(302, { location: 'http://192.0.2.1/' }).end(),
      reason: 'main answered 302 (redirects are not followed: configure the final URL)',
    },
    {
      name: 'the server hangs up',
      respond: (_, response) => response.destroy(),
      reason: 'main: ',
    },
  ]
  test.each(cases)('says why when $name', async ({ respond, reason }) => {
    const { source } = await open(respond)
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining(reason)],
      values: new Float64Array(0),
    })
  })

  test('is not asked for with a template that cannot be filled', async () => {
    const { source, server } = await open(answering(['1']))
    expect(await source.fetchSeries({ query: 'up{pod="${pod}"}' })).toMatchObject({
      state: 'failed',
      reasons: ['main: the query cannot be filled: ${pod} is not in the scope, which has no values'],
      query: 'up{pod="${pod}"}',
    })
    expect(server.seen).toHaveLength(0)
  })

  test('is told by a server that is not there', async () => {
    const { source, server } = await open(answering(['1']))
    await server.close()
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: [expect.stringMatching(/^main: /)],
    })
  })

  test('ends at the limit of bytes, without reading on', async () => {
    let written = 0
    const { source } = await open((_, response) => {
      response.writeHead(200)
      const write = (): void => {
        if (response.destroyed || written > 100 * 1024 * 1024) return
        written += 65_536
        response.write('x'.repeat(65_536), () => write())
      }
      write()
    })
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: [expect.stringMatching(/^main: /)],
    })
    expect(written).toBeLessThan(50 * 1024 * 1024)
  })

  test('has no steps when the window is shorter than one', async () => {
    const { source } = await open(answering(['1']))
    const answer = await source.fetchSeries({ startMs: START_MS + 1, endMs: START_MS + 2 })
    expect(answer).toMatchObject({ state: 'failed', reasons: ['the window has no step in it'] })
  })

  test('ends when it is given up', async () => {
    const { source } = await open(() => undefined)
    const giveUp = new AbortController()
    const answer = source.fetchSeries({}, { budgetMs: 20_000, signal: giveUp.signal })
    giveUp.abort()
    expect(await answer).toMatchObject({ state: 'failed' })
  })
})

describe('a server that does not answer in time', () => {
  test('is queried again, and then the fetch ends', async () => {
    const { source, server } = await open(() => undefined, { timeoutSeconds: 0.2 })
    const answer = await source.fetchSeries({})
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toMatch(/^main: .*(?:time|answer)/)
    expect(server.seen).toHaveLength(4)
  })

  test('is not queried when there is no time left', async () => {
    const { source, server } = await open(answering(['1']))
    expect(await source.fetchSeries({}, { budgetMs: 0 })).toMatchObject({
      state: 'failed',
      reasons: ['main: the time for this fetch is used up'],
    })
    expect(server.seen).toHaveLength(0)
  })
})

describe('a server that is busy', () => {
  test('is queried again, after what it says', async () => {
    const { source } = await open((request, response, nth) => {
      if (nth === 1) response.writeHead(429, { 'retry-after': '7' }).end()
      else if (nth === 2) answeringText(503, 'service unavailable')(request, response, nth)
      else answering(['1'])(request, response, nth)
    })
    expect(await source.fetchSeries({})).toMatchObject({ state: 'complete' })
    expect(source.waits).toHaveLength(2)
    expect(source.waits[0]).toBe(7000)
  })

  test('is not queried again when the time for the fetch would be over', async () => {
    const { source, server } = await open((_, response) =>
      response.writeHead(429, { 'retry-after': '60' }).end(),
    )
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: ['main answered 429 (too many requests)'],
    })
    expect(server.seen).toHaveLength(1)
  })
})
