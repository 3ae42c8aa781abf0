import { afterEach, describe, expect, test } from 'vitest'

import { respondJson } from '../../../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources, window } from '../../../support/open-source.js'
import { messages, servingElasticsearch, servingOpenSearch } from './search-server.js'
import type { SearchRequestBody } from './search-server.js'

const served = makeServedSources('elasticsearch')
const open = (respond: Respond, settings: Readonly<Record<string, unknown>> = {}) =>
  served.open(respond, { index: 'logs-*', ...settings })
afterEach(served.closeAll)

const fetchAll = { query: '' }

function searchesOf({ seen }: LoopbackServer): SearchRequestBody[] {
  return seen.filter(({ url }) => url === '/_search').map(({ body }) => JSON.parse(body) as SearchRequestBody)
}

describe('log lines from Elasticsearch', () => {
  test('come page after page at one point in time, which is given back', async () => {
    const { source, server } = await open(servingElasticsearch(messages(7)))
    const answer = await source.fetchLines(fetchAll)
    expect(answer).toMatchObject({ state: 'complete', reasons: [], warnings: [], omittedLines: 0 })
    expect(answer.lines).toEqual(messages(7).map(({ ms }) => ({ atMs: START_MS + ms, text: `line ${ms}` })))
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /logs-*/_pit?keep_alive=1m',
      'POST /_search',
      'POST /_search',
      'POST /_search',
      'DELETE /_pit',
    ])
    expect(server.seen.at(-1)!.body).toBe('{"id":"pit-4"}')
  })

  test('are requested in an order without ties, from the last hit on, with the newest id, and counted once', async () => {
    const { source, server } = await open(servingElasticsearch(messages(4)))
    await source.fetchLines(fetchAll)
    const [first, second] = searchesOf(server)
    expect(first).toEqual({
      size: 3,
      query: {
        bool: {
          filter: [
            {
              range: {
                '@timestamp': { gte: START_MS, lt: window(10).endMs, format: 'epoch_millis' },
              },
            },
          ],
        },
      },
      sort: [
        {
          '@timestamp': {
            order: 'asc',
            format: 'strict_date_optional_time_nanos',
            numeric_type: 'date_nanos',
          },
        },
      ],
      pit: { id: 'pit-1', keep_alive: '1m' },
      _source: expect.arrayContaining(['message', 'log.level', 'error.stack_trace']) as unknown,
      track_total_hits: true,
    })
    expect(second).toMatchObject({
      pit: { id: 'pit-2' },
      search_after: ['2026-11-21T06:00:00.002123456Z', 4_294_967_298],
      track_total_hits: false,
    })
  })

  test('are those that the query and the filters ask for, with the values of the scope escaped', async () => {
    const { source, server } = await open(servingElasticsearch([]))
    const answer = await source.fetchLines({
      query: 'level:ERROR AND app:${app}',
      scope: { app: 'a OR b' },
      index: 'other',
      filters: [
        { field: 'kubernetes.pod_name', value: 'x" y', match: 'exact' },
        { field: 'zone', value: 'eu*', match: 'prefix' },
      ],
    })
    const { filter } = (searchesOf(server)[0]!.query as { bool: { filter: unknown[] } }).bool
    expect(filter.slice(1)).toEqual([
      { match_phrase: { 'kubernetes.pod_name': 'x" y' } },
      { prefix: { zone: { value: 'eu*' } } },
      { query_string: { query: String.raw`level:ERROR AND app:a\ OR\ b` } },
    ])
    expect(answer).toMatchObject({ state: 'empty', query: JSON.stringify(searchesOf(server)[0]!.query) })
    expect(server.seen[0]!.url).toBe('/other/_pit?keep_alive=1m')
  })

  test('have their text from a field inside others, or of a dotted name', async () => {
    const documents = [
      { ms: 0, source: { log: { message: 'nested' } } },
      { ms: 1, source: { 'log.message': 'dotted' } },
      { ms: 2, source: { log: { message: ['two', 'parts'] } } },
    ]
    const { source } = await open(servingElasticsearch(documents))
    const answer = await source.fetchLines({ ...fetchAll, messageField: 'log.message' })
    expect(answer.lines.map(({ text }) => text)).toEqual(['nested', 'dotted', 'two\nparts'])
  })

  test('are incomplete where documents have no text', async () => {
    const { source } = await open(servingElasticsearch([{ ms: 0, source: {} }, ...messages(1)]))
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'incomplete',
      reasons: ['1 of 2 documents have no text in the field message'],
    })
  })

  test('beyond the limit are counted', async () => {
    const { source, server } = await open(servingElasticsearch(messages(9)), { maxLines: 4 })
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'incomplete',
      isTruncated: true,
      omittedLines: 5,
      coveredUntilMs: START_MS + 3,
    })
    expect(server.seen.at(-1)!.method).toBe('DELETE')
  })

  test('are requested in smaller pages where an answer is too large', async () => {
    const documents = messages(6).map(({ ms }) => ({ ms, source: { message: 'x'.repeat(15_000) } }))
    const { source, server } = await open(servingElasticsearch(documents), {
      pageLines: 6,
      maxResponseBytes: 50_000,
    })
    expect((await source.fetchLines(fetchAll)).lines).toHaveLength(6)
    expect(searchesOf(server).map(({ size }) => size)).toEqual([6, 3, 3, 3])
  })
})

describe('an answer that lacks documents', () => {
  const faults = [
    {
      name: 'half of the shards did not answer',
      fault: {
        _shards: {
          total: 4,
          successful: 2,
          failed: 2,
          failures: [{ shard: 1, index: 'logs-1', reason: { type: 'x', reason: 'node left' } }],
        },
      },
      reason: '2 of 4 shards did not answer: their documents are missing (node left)',
    },
    {
      name: 'the search ran out of time',
      fault: { timed_out: true },
      reason: 'the search ran out of time on the server: documents are missing',
    },
  ]
  test.each(faults)('is incomplete, not one with fewer errors, when $name', async ({ fault, reason }) => {
    const { source } = await open(servingElasticsearch(messages(2), (answer) => ({ ...answer, ...fault })))
    const answer = await source.fetchLines(fetchAll)
    expect(answer).toMatchObject({ state: 'incomplete', reasons: [reason] })
    expect(answer.lines).toHaveLength(2)
  })

  test('is incomplete though nothing at all was found', async () => {
    const { source } = await open(servingElasticsearch([], (answer) => ({ ...answer, timed_out: true })))
    expect(await source.fetchLines(fetchAll)).toMatchObject({ state: 'incomplete', lines: [] })
  })

  test('keeps its lines when a later page fails, and gives the point in time back', async () => {
    const serve = servingElasticsearch(messages(9))
    const { source, server } = await open((request, response, nth) => {
      const missing = { type: 'search_context_missing_exception', reason: 'No search context found' }
      if (nth !== 3) serve(request, response, nth)
      else respondJson(response, 404, { error: { root_cause: [missing], ...missing }, status: 404 })
    })
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'incomplete',
      reasons: [
        'main answered 404: search_context_missing_exception: No search context found; nothing is known after 2026-11-21T06:00:00.002Z',
      ],
      coveredUntilMs: START_MS + 2,
    })
    expect(server.seen.at(-1)!.method).toBe('DELETE')
  })
})

describe('log lines that cannot be had from Elasticsearch', () => {
  const refusals = [
    {
      name: 'the index is not there',
      status: 404,
      error: { type: 'index_not_found_exception', reason: 'no such index [logs]' },
      reason: 'main answered 404: index_not_found_exception: no such index [logs]',
    },
    {
      name: 'credentials are refused',
      status: 401,
      error: { type: 'security_exception', reason: 'missing authentication credentials' },
      reason:
        'main answered 401 (see its credentials): security_exception: missing authentication credentials',
    },
    {
      name: 'the server stays busy',
      status: 429,
      error: { type: 'es_rejected_execution_exception', reason: 'rejected execution' },
      reason: 'main answered 429 (too many requests): es_rejected_execution_exception: rejected execution',
    },
  ]
  test.each(refusals)('say why when $name', async ({ status, error, reason }) => {
    const { source } = await open((_, response) =>
      respondJson(response, status, { error: { root_cause: [error], ...error }, status }),
    )
    expect(await source.fetchLines(fetchAll)).toMatchObject({ state: 'failed', reasons: [reason], lines: [] })
  })

  test('say that no index matches', async () => {
    const noShards = { _shards: { total: 0, successful: 0, skipped: 0, failed: 0 } }
    const { source } = await open(servingElasticsearch([], (answer) => ({ ...answer, ...noShards })))
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'failed',
      reasons: ['main: no index matches logs-*'],
    })
  })

  test.each(['..', 'a/b', 'a b', '?x'])('are not asked of what is no index: %s', async (index) => {
    const { source, server } = await open(servingElasticsearch([]))
    const answer = await source.fetchLines({ ...fetchAll, index })
    expect(answer).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining('cannot be the name')],
    })
    expect(server.seen).toHaveLength(0)
  })

  test('need an index', async () => {
    const { source } = await open(servingElasticsearch([]), { index: undefined })
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'failed',
      reasons: ['main: no index to search: name it in the log template or in the source'],
    })
  })

  test('say that the answer is of another server', async () => {
    const { source } = await open((_, response) => respondJson(response, 200, { hello: 'world' }))
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining('is it the right type of server?')],
    })
  })

  test('are still given when the point in time cannot be given back', async () => {
    const serve = servingElasticsearch(messages(1))
    const { source } = await open((request, response, nth) =>
      request.method === 'DELETE' ? respondJson(response, 400, {}) : serve(request, response, nth),
    )
    expect(await source.fetchLines(fetchAll)).toMatchObject({
      state: 'complete',
      warnings: ['the point in time stays open for a minute: main answered 400: {}'],
    })
  })
})

describe('log lines from OpenSearch', () => {
  const opensearch = { type: 'opensearch' }

  test('come with its own way of points in time, ties broken by the id', async () => {
    const { source, server } = await open(servingOpenSearch(messages(5)), opensearch)
    const answer = await source.fetchLines(fetchAll)
    expect(answer.state).toBe('complete')
    expect(answer.lines.at(-1)).toEqual({ atMs: START_MS + 4, text: 'line 4' })
    expect(server.seen[0]!.url).toBe('/logs-*/_search/point_in_time?keep_alive=1m')
    expect(server.seen.at(-1)).toMatchObject({ url: '/_search/point_in_time', body: '{"pit_id":["os-1"]}' })
    expect(searchesOf(server)[1]).toMatchObject({
      sort: [{ '@timestamp': { order: 'asc', numeric_type: 'date' } }, { _id: 'asc' }],
      search_after: [START_MS + 2, 'id-2'],
    })
  })
})
