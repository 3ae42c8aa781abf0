import { afterEach, describe, expect, test } from 'vitest'

import { respondJson } from '../../../support/loopback-server.js'
import type { Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources, window } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('loki')
afterEach(closeAll)

interface Entry {
  /** Nanoseconds after `START_MS`. */
  readonly ns: number
  readonly line: string
  readonly pod?: string
}

const startNs = BigInt(START_MS) * 1_000_000n

/** Answers as Loki does: the first entries from start on, before end, grouped by stream. */
function serving(entries: readonly Entry[]): Respond {
  return ({ url }, response) => {
    const search = new URL(url, 'http://loki').searchParams
    const [start, end] = [BigInt(search.get('start')!), BigInt(search.get('end')!)]
    const timed = entries.map((entry) => ({ ...entry, atNs: startNs + BigInt(entry.ns) }))
    const page = timed
      .filter(({ atNs }) => atNs >= start && atNs < end)
      .sort((one, other) => one.ns - other.ns)
      .slice(0, Number(search.get('limit')))
    respondJson(response, 200, streams(page))
  }
}

function streams(page: readonly (Entry & { readonly atNs: bigint })[]): unknown {
  const pods = [...new Set(page.map(({ pod = 'a' }) => pod))]
  const result = pods.map((pod) => ({
    stream: { app: 'web', pod },
    values: page
      .filter((entry) => (entry.pod ?? 'a') === pod)
      .map(({ atNs, line }) => [String(atNs), line, { trace_id: '1' }]),
  }))
  return { status: 'success', data: { resultType: 'streams', result, stats: {} } }
}

const textsOf = (answer: { lines: readonly { text: string }[] }): string[] =>
  answer.lines.map(({ text }) => text)

describe('log lines from Loki', () => {
  test('come in order of time from all streams, page after page, each once', async () => {
    const entries = Array.from({ length: 10 }, (_, index) => ({
      ns: index * 1_000_000,
      line: `line ${index}`,
      pod: index % 2 === 0 ? 'a' : 'b',
    }))
    const { source, server } = await open(serving(entries))
    const answer = await source.fetchLines({})
    expect(answer).toMatchObject({
      state: 'complete',
      reasons: [],
      query: '{app="web"}',
      isTruncated: false,
      omittedLines: 0,
      coveredUntilMs: window(10).endMs,
    })
    expect(answer.lines).toEqual(entries.map(({ line }, index) => ({ atMs: START_MS + index, text: line })))
    expect(server.seen.length).toBeGreaterThan(3)
    expect(Object.fromEntries(new URL(server.seen[0]!.url, 'http://loki').searchParams)).toEqual({
      query: '{app="web"}',
      start: `${START_MS}000000`,
      end: `${window(10).endMs}000000`,
      limit: '3',
      direction: 'forward',
    })
  })

  test('of one instant across a page end come once each, the same text of two pods and of one pod included', async () => {
    const entries: Entry[] = [
      { ns: 1, line: 'first' },
      { ns: 5, line: 'same' },
      { ns: 5, line: 'same' },
      { ns: 5, line: 'same', pod: 'b' },
      { ns: 9, line: 'last' },
    ]
    const { source } = await open(serving(entries), { pageLines: 4 })
    const answer = await source.fetchLines({})
    expect(answer.state).toBe('complete')
    expect(textsOf(answer)).toEqual(['first', 'same', 'same', 'same', 'last'])
  })

  test('of an instant that fills a page are not all there, and it is said', async () => {
    const crowd = Array.from({ length: 7 }, (_, index) => ({ ns: 5, line: `crowd ${index}` }))
    const { source } = await open(serving([...crowd, { ns: 6, line: 'after' }]))
    const answer = await source.fetchLines({})
    expect(answer).toMatchObject({
      state: 'incomplete',
      reasons: ['one instant has more than 3 lines, of which the rest cannot be read'],
    })
    expect(textsOf(answer)).toEqual(['crowd 0', 'crowd 1', 'crowd 2', 'after'])
  })

  test('beyond the limit are left out, and it is said from when on', async () => {
    const entries = Array.from({ length: 10 }, (_, index) => ({ ns: index * 1e9, line: `line ${index}` }))
    const { source } = await open(serving(entries), { maxLines: 4 })
    const answer = await source.fetchLines({})
    expect(answer).toMatchObject({
      state: 'incomplete',
      isTruncated: true,
      omittedLines: undefined,
      coveredUntilMs: START_MS + 3000,
      reasons: [
        'the limit of 4 lines or 1048576 bytes is reached: the lines after 2026-11-21T06:00:03.000Z are left out',
      ],
    })
    expect(answer.lines).toHaveLength(4)
  })

  test('are no more than exactly fit the limit without being called left out', async () => {
    const { source } = await open(
      serving([
        { ns: 1, line: 'a' },
        { ns: 2, line: 'b' },
      ]),
      { maxLines: 2 },
    )
    expect(await source.fetchLines({})).toMatchObject({ state: 'complete', isTruncated: false })
  })

  test('are empty where there are none', async () => {
    const { source } = await open(serving([]))
    expect(await source.fetchLines({})).toMatchObject({ state: 'empty', lines: [], reasons: [] })
  })

  test('that are very long objects in JSON have their texts cut, and keep their level', async () => {
    const line = JSON.stringify({ body: 'x'.repeat(100_000), level: 'error' })
    const { source } = await open(serving([{ ns: 1, line }]))
    const answer = await source.fetchLines({})
    expect(JSON.parse(answer.lines[0]!.text)).toEqual({ body: 'x'.repeat(1000), level: 'error' })
    expect(answer.warnings).toEqual(['lines cut after 16384 characters: 1'])
  })

  test('that are very long are cut, and counted', async () => {
    const { source } = await open(serving([{ ns: 1, line: 'x'.repeat(20_000) }]))
    const answer = await source.fetchLines({})
    expect(answer.lines[0]!.text).toHaveLength(16_384)
    expect(answer.warnings).toEqual(['lines cut after 16384 characters: 1'])
  })
})

describe('the query of log lines', () => {
  test('has filters as label filters after it, escaped', async () => {
    const { source, server } = await open(serving([]))
    await source.fetchLines({
      query: '{app="${app}"} |~ `${app}` # why',
      scope: { app: 'a.b' },
      filters: [
        { field: 'kubernetes.pod_name', value: 'x"y', match: 'exact' },
        { field: 'zone', value: 'a.b', match: 'prefix' },
      ],
    })
    expect(new URL(server.seen[0]!.url, 'http://loki').searchParams.get('query')).toBe(
      '{app="a.b"} |~ `a\\.b` # why\n| kubernetes_pod_name="x\\"y"\n| zone=~"a\\\\.b.*"',
    )
  })

  test('is a selector of its filters where there is no template', async () => {
    const { source, server } = await open(serving([]))
    await source.fetchLines({ query: '', filters: [{ field: 'app', value: 'web', match: 'exact' }] })
    expect(new URL(server.seen[0]!.url, 'http://loki').searchParams.get('query')).toBe('{app="web"}')
  })
})

describe('Loki with limits of its own', () => {
  test('gets requests for smaller pages when it says how many lines it gives at most', async () => {
    const entries = Array.from({ length: 5 }, (_, index) => ({ ns: index, line: String(index) }))
    const { source, server } = await open(
      (request, response, nth) => {
        const limit = Number(new URL(request.url, 'http://loki').searchParams.get('limit'))
        if (limit <= 2) serving(entries)(request, response, nth)
        else
          response
            .writeHead(400)
            .end(`max entries limit per query exceeded, limit > max_entries_limit (${limit} > 2)`)
      },
      { pageLines: 900 },
    )
    expect(textsOf(await source.fetchLines({}))).toEqual(['0', '1', '2', '3', '4'])
    expect(server.seen[1]!.url).toContain('limit=2&')
  })

  test('gets requests for smaller pages when an answer is too large', async () => {
    const entries = Array.from({ length: 8 }, (_, index) => ({
      ns: index,
      line: String(index).repeat(10_000),
    }))
    const { source } = await open(serving(entries), { pageLines: 8, maxResponseBytes: 50_000 })
    const answer = await source.fetchLines({})
    expect(answer.state).toBe('complete')
    expect(answer.lines).toHaveLength(8)
  })
})

describe('log lines that cannot be had', () => {
  test('say what Loki says in plain text', async () => {
    const { source } = await open((_, response) =>
      response
        .writeHead(400, { 'content-type': 'text/plain' })
        .end('parse error at line 1, col 5: syntax error'),
    )
    expect(await source.fetchLines({})).toMatchObject({
      state: 'failed',
      reasons: ['main answered 400: parse error at line 1, col 5: syntax error'],
      coveredUntilMs: START_MS,
    })
  })

  test('after some pages leave what was read, and say until when it reaches', async () => {
    const entries = Array.from({ length: 9 }, (_, index) => ({ ns: index * 1e9, line: String(index) }))
    const { source } = await open((request, response, nth) =>
      nth === 1 ? serving(entries)(request, response, nth) : response.writeHead(400).end('too much'),
    )
    expect(await source.fetchLines({})).toMatchObject({
      state: 'incomplete',
      reasons: ['main answered 400: too much; nothing is known after 2026-11-21T06:00:02.000Z'],
      coveredUntilMs: START_MS + 2000,
      isTruncated: false,
    })
  })

  test('say that a metric query gives numbers', async () => {
    const { source } = await open((_, response) =>
      respondJson(response, 200, { status: 'success', data: { resultType: 'matrix', result: [] } }),
    )
    expect(await source.fetchLines({})).toMatchObject({
      state: 'failed',
      reasons: ['main: the query gives numbers, where log lines are wanted'],
    })
  })

  test('are incomplete when Loki warns', async () => {
    const { source } = await open((_, response) =>
      respondJson(response, 200, { ...(streams([]) as object), warnings: ['returning partial results'] }),
    )
    expect(await source.fetchLines({})).toMatchObject({
      state: 'incomplete',
      reasons: ['the server warns: returning partial results'],
    })
  })
})

describe('metrics from Loki', () => {
  test('are read as those of Prometheus', async () => {
    const { source, server } = await open((_, response) =>
      respondJson(response, 200, {
        status: 'success',
        data: { resultType: 'matrix', result: [{ metric: {}, values: [[START_MS / 1000, '4']] }] },
      }),
    )
    const answer = await source.fetchSeries({ ...window(2), query: 'sum(count_over_time({app="web"}[1m]))' })
    expect([...answer.values]).toEqual([4, NaN])
    expect(server.seen[0]!.method).toBe('GET')
    expect(server.seen[0]!.url).toMatch(/^\/loki\/api\/v1\/query_range\?.*&step=60\.000$/)
  })

  test('are refused where the query gives lines', async () => {
    const { source } = await open((_, response) =>
      respondJson(response, 200, streams([{ ns: 1, atNs: startNs, line: 'a' }])),
    )
    expect(await source.fetchSeries({})).toMatchObject({
      state: 'failed',
      reasons: ['main: the query gives log lines, where a range of numbers is wanted'],
    })
  })
})
