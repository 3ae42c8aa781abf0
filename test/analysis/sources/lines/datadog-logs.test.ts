import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources, window } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('datadog')
afterEach(closeAll)

const SETTINGS = {
  credentials: {
    type: 'headers',
    headers: [
      { name: 'DD-API-KEY', value: new Secret('key-1') },
      { name: 'DD-APPLICATION-KEY', value: new Secret('key-2') },
    ],
  },
}

interface Asked {
  readonly page: { readonly limit: number; readonly cursor?: string }
}

function event(index: number, more: object = {}): object {
  return {
    ...{ id: `AQ${index}`, type: 'log' },
    attributes: {
      ...{ timestamp: new Date(START_MS + index * 1000).toISOString(), status: 'info', service: 'shop' },
      ...{ message: `line ${index}`, host: 'i-1', tags: ['env:prod'], attributes: {}, ...more },
    },
  }
}

/** Answers as the search does: at most the requested number, and a cursor if there are more. */
function serving(events: readonly object[], meta: object = {}): Respond {
  return ({ body }, response) => {
    const { limit, cursor = '0' } = (JSON.parse(body) as Asked).page
    const end = Number(cursor) + limit
    const page = end < events.length ? { page: { after: String(end) } } : {}
    respondJson(response, 200, {
      data: events.slice(Number(cursor), end),
      ...(end < events.length && { links: { next: 'https://api.example/api/v2/logs/events?page' } }),
      meta: { elapsed: 12, status: 'done', request_id: 'r', ...page, ...meta },
    })
  }
}

const textsOf = (answer: { lines: readonly { text: string }[] }): string[] =>
  answer.lines.map(({ text }) => text)

describe('log events of Datadog', () => {
  test('are requested with both keys, page after page', async () => {
    const events = Array.from({ length: 7 }, (_, index) => event(index))
    const { source, server } = await open(serving(events), { ...SETTINGS, index: 'main' })
    const answer = await source.fetchLines({
      ...{ query: 'service:${service} "${text}"', scope: { service: 'shop OR *', text: 'a "b"' } },
      filters: [{ field: 'pod_name', value: 'shop-7f', match: 'prefix' }],
    })
    expect(answer).toMatchObject({ state: 'complete', reasons: [], coveredUntilMs: window(10).endMs })
    expect(textsOf(answer)).toEqual(events.map((_, index) => `INFO line ${index}`))
    expect(server.seen.map(({ url, method }) => `${method} ${url}`)).toEqual(
      Array<string>(3).fill('POST /api/v2/logs/events/search'),
    )
    const [{ headers, body } = { headers: {}, body: '' }, second] = server.seen
    expect(headers).toMatchObject({ 'dd-api-key': 'key-1', 'dd-application-key': 'key-2' })
    expect(JSON.parse(body)).toEqual({
      filter: {
        query: '(service:shop\\ OR\\ \\* "a \\"b\\"") pod_name:shop\\-7f*',
        ...{ indexes: ['main'], from: String(START_MS), to: String(window(10).endMs) },
      },
      ...{ sort: 'timestamp', page: { limit: 3 } },
    })
    expect((JSON.parse(second!.body) as Asked).page).toEqual({ limit: 3, cursor: '3' })
  })

  test('say their level, their error and their request', async () => {
    const error = { error: { kind: 'TimeoutError', message: 'no answer' } }
    const request = { http: { method: 'GET', status_code: 502, url_details: { path: '/pay' } } }
    const events = [
      event(0, { status: 'error', attributes: error }),
      event(1, { message: undefined, attributes: { message: 'inner', ...request } }),
    ]
    const { source } = await open(serving(events), SETTINGS)
    const [first = '', second = ''] = textsOf(await source.fetchLines({ query: '*' }))
    expect(first).toBe('ERROR line 0: TimeoutError: no answer')
    expect(second).toMatch(/^ERROR inner .*status=502$/)
  })

  test('are incomplete where the search ran out of time or warns', async () => {
    const meta = {
      status: 'timeout',
      warnings: [{ code: 'unknown_index', title: 'Unknown index', detail: 'nope' }],
    }
    const { source } = await open(serving([event(0)], meta), SETTINGS)
    expect(await source.fetchLines({ query: '*' })).toMatchObject({
      state: 'incomplete',
      reasons: [
        'the server warns: Unknown index nope',
        'the search ran out of time on the server: events are missing',
      ],
    })
  })

  test('without a text in the named field are reported', async () => {
    const { source } = await open(serving([event(0, { message: undefined })]), SETTINGS)
    expect(await source.fetchLines({ query: '*', messageField: 'nope' })).toMatchObject({
      state: 'incomplete',
      reasons: ['1 of 1 events have no text in the field nope'],
    })
  })

  test('from outside of the window are told, and one at its very end is no part of it', async () => {
    const { source } = await open(serving([event(0), event(600), event(3600)]), SETTINGS)
    const answer = await source.fetchLines({ query: '*' })
    expect(textsOf(answer)).toEqual(['INFO line 0'])
    expect(answer.reasons).toEqual([
      '1 of 3 events are outside of the requested window: check the clock of the server',
    ])
  })

  test.each([
    [401, { errors: ['Unauthorized'] }, 'main answered 401 (see its credentials): Unauthorized'],
    [
      403,
      { errors: [{ status: '403', title: 'Forbidden', detail: 'logs_read_data is missing' }] },
      'main answered 403 (see its credentials): Forbidden: logs_read_data is missing',
    ],
    [400, { errors: ['Invalid query'] }, 'main answered 400: Invalid query'],
  ])('are refused with %i in a sentence', async (status, body, reason) => {
    const { source } = await open((_, response) => respondJson(response, status, body), SETTINGS)
    const answer = await source.fetchLines({ query: '*' })
    expect(answer).toMatchObject({ state: 'failed', reasons: [reason] })
    expect(JSON.stringify(answer)).not.toMatch(/key-[12]/)
  })

  test('are waited for as long as the rate limit says', async () => {
    const { source } = await open((request, response, nth) => {
      if (nth > 1) serving([event(0)])(request, response, nth)
      else response.writeHead(429, { 'x-ratelimit-reset': '7' }).end('{"errors":["Too many requests"]}')
    }, SETTINGS)
    expect(textsOf(await source.fetchLines({ query: '*' }))).toEqual(['INFO line 0'])
    expect(source.waits).toEqual([7000])
  })

  test('are none in a page of HTML, whose status is 200', async () => {
    const { source } = await open((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><html>Sign in</html>')
    }, SETTINGS)
    expect((await source.fetchLines({ query: '*' })).reasons).toEqual([
      'main answered with an HTML page, as a proxy or a login form gives: see its url, which must be that of its API',
    ])
  })

  test('too large for one answer are requested in smaller pages', async () => {
    const events = Array.from({ length: 4 }, (_, index) => event(index, { message: 'x'.repeat(40_000) }))
    const { source, server } = await open(serving(events), {
      ...{ ...SETTINGS, pageLines: 4, maxResponseBytes: 100_000 },
    })
    const answer = await source.fetchLines({ query: '*' })
    expect(answer).toMatchObject({ state: 'complete' })
    expect(answer.lines).toHaveLength(4)
    expect(server.seen.map(({ body }) => (JSON.parse(body) as Asked).page.limit)).toEqual([4, 2, 2])
  })

  test.each([null, 7, [], {}, { data: [{}] }, { data: 'x' }])('are none in %j', async (strange) => {
    const { source } = await open((_, response) => respondJson(response, 200, strange), SETTINGS)
    expect((await source.fetchLines({ query: '*' })).state).toBe('failed')
  })
})
