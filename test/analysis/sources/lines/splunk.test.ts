import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import type { Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources, window } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('splunk')
afterEach(closeAll)

const SETTINGS = { index: 'web', credentials: { type: 'bearer', token: new Secret('eyJ-token') } }
const START_S = START_MS / 1000

function row(index: number, raw = `line ${index}`, more: object = {}): object {
  const result = { tidegate_time: `${START_S + index}.250000`, _raw: raw, ...more }
  return { preview: false, offset: index, result }
}

/** Answers as the export does: an object a line, cut into pieces anywhere. */
function serving(rows: readonly object[], pieces = 1): Respond {
  return (_, response) => {
    const bytes = Buffer.from(rows.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const size = Math.max(1, Math.ceil(bytes.length / pieces))
    response.writeHead(200, { 'content-type': 'application/json' })
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
    response.end()
  }
}

const textsOf = (answer: { lines: readonly { text: string }[] }): string[] =>
  answer.lines.map(({ text }) => text)
const formOf = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body))

describe('events of Splunk', () => {
  test('are exported in order of time, no more than are read', async () => {
    const { source, server } = await open(
      serving([row(0), row(1), { preview: false, lastrow: true }]),
      SETTINGS,
    )
    const answer = await source.fetchLines({
      ...{ query: 'sourcetype=app pod="${pod}" ERROR', scope: { pod: 'a" | delete "' } },
      filters: [{ field: 'kubernetes.pod_name', value: 'shop-', match: 'prefix' }],
    })
    expect(answer).toMatchObject({ state: 'complete', reasons: [], coveredUntilMs: window(10).endMs })
    expect(answer.lines).toEqual([
      { atMs: START_MS + 250, text: 'line 0' },
      { atMs: START_MS + 1250, text: 'line 1' },
    ])
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = server.seen
    expect(`${method} ${url}`).toBe('POST /services/search/v2/jobs/export')
    expect(headers).toMatchObject({ authorization: 'Bearer eyJ-token' })
    const search =
      'search index="web" sourcetype=app pod="a\\" | delete \\"" ERROR | search kubernetes.pod_name="shop-*"'
    expect(formOf(body)).toEqual({
      search: `${search} | eval tidegate_time=_time | fields tidegate_time, _raw, "_raw" | sort 1001 +tidegate_time`,
      ...{ output_mode: 'json', preview: 'false' },
      ...{ earliest_time: String(START_S), latest_time: String(START_S + 600) },
    })
    expect(answer.query).toBe(search)
  })

  test('are the same wherever the answer is cut into pieces', async () => {
    const rows = [row(0, 'a "quoted"\nsecond line'), row(1, '{"level":"error","msg":"brace } in [ text"}')]
    for (const pieces of [1, 2, 7, 1000]) {
      const { source } = await open(serving(rows, pieces), SETTINGS)
      expect(textsOf(await source.fetchLines({ query: '' }))).toEqual([
        'a "quoted"\nsecond line',
        'ERROR brace } in [ text',
      ])
    }
  })

  test('have the index of the template, of the query, or of the source', async () => {
    const { source, server } = await open(serving([]), SETTINGS)
    await source.fetchLines({ query: '*' })
    await source.fetchLines({ query: '*', index: 'other' })
    await source.fetchLines({ query: 'index=own error' })
    await source.fetchLines({ query: 'search error' })
    await source.fetchLines({ query: '| tstats count' })
    const searches = server.seen.map(({ body }) => formOf(body)['search']?.split(' | eval')[0])
    expect(searches).toEqual([
      ...['search index="web" *', 'search index="other" *', 'search index=own error'],
      ...['search index="web" error', '| tstats count'],
    ])
  })

  test('are empty where nothing was found', async () => {
    const { source } = await open(serving([{ preview: false, lastrow: true }]), SETTINGS)
    expect(await source.fetchLines({ query: '*' })).toMatchObject({ state: 'empty', reasons: [] })
    const { source: silent } = await open(serving([]), SETTINGS)
    expect(await silent.fetchLines({ query: '*' })).toMatchObject({ state: 'empty', reasons: [] })
  })

  test('of a preview are not taken', async () => {
    const { source } = await open(serving([{ ...row(0), preview: true }, row(0)]), SETTINGS)
    expect(textsOf(await source.fetchLines({ query: '*' }))).toEqual(['line 0'])
  })

  test('with a search that is refused or broken off are reported', async () => {
    const fatal = { messages: [{ type: 'FATAL', text: "Unknown search command 'nope'." }] }
    const { source } = await open(serving([fatal]), SETTINGS)
    expect(await source.fetchLines({ query: '| nope' })).toMatchObject({
      ...{ state: 'failed', reasons: ["main: the search was refused: Unknown search command 'nope'."] },
    })
    const warning = { messages: [{ type: 'WARN', text: 'peer idx-2 is down' }] }
    const { source: partial } = await open(serving([warning, row(0), fatal]), SETTINGS)
    expect(await partial.fetchLines({ query: '*' })).toMatchObject({
      state: 'incomplete',
      reasons: [
        'the server warns: peer idx-2 is down',
        "the search broke off: Unknown search command 'nope'.",
      ],
    })
  })

  test('end at the limit of lines, and tell until when they are there', async () => {
    const rows = Array.from({ length: 4 }, (_, index) => row(index))
    const { source } = await open(serving(rows), { ...SETTINGS, maxLines: 3 })
    expect(await source.fetchLines({ query: '*' })).toMatchObject({
      ...{ state: 'incomplete', isTruncated: true, coveredUntilMs: START_MS + 2250 },
    })
  })

  test('too many for one answer are as many as it holds, and the rest is told to be missing', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => row(index, 'x'.repeat(4000)))
    const { source } = await open(
      ({ body }, response, nth) => {
        const count = Number(/ sort (\d+) /.exec(formOf(body)['search'] ?? '')?.[1])
        serving(rows.slice(0, count))({ body, method: '', url: '', headers: {} }, response, nth)
      },
      { ...SETTINGS, maxLines: 60, maxResponseBytes: 100_000 },
    )
    const answer = await source.fetchLines({ query: '*' })
    expect(answer.lines).toHaveLength(15)
    expect(answer).toMatchObject({ state: 'incomplete', coveredUntilMs: START_MS + 14_250 })
    expect(answer.reasons[0]).toMatch(
      /has 15 events or more.*raise maxLines or maxResponseBytes.*nothing is known after/,
    )
  })

  test('that were transformed are no events', async () => {
    const counted = { preview: false, result: { count: '7' } }
    const { source } = await open(serving([counted]), SETTINGS)
    expect(await source.fetchLines({ query: '* | stats count' })).toMatchObject({
      ...{ state: 'incomplete', reasons: ['1 of 1 events have no time that can be read'] },
    })
  })

  test.each([
    [
      401,
      '{"messages":[{"type":"WARN","text":"call not properly authenticated"}]}',
      '(see its credentials): call not',
    ],
    [404, '<html><body>Not found</body></html>', 'an HTML page'],
  ])('are refused with %i in a sentence', async (status, body, said) => {
    const { source } = await open((_, response) => {
      response.writeHead(status).end(body)
    }, SETTINGS)
    const answer = await source.fetchLines({ query: '*' })
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(said)
    expect(JSON.stringify(answer)).not.toContain('eyJ-token')
  })

  test.each([
    [{ query: 'pod="${pod}"', scope: { pod: 'x*' } }, 'text without "*"'],
    [{ query: '`macro(${pod})`', scope: { pod: 'x' } }, 'fixed text of the template'],
    [{ query: 'pod=${pod}', scope: { pod: 'x | delete' } }, 'put the placeholder between quotes'],
    [{ query: '*', index: 'a" | delete' }, 'cannot be the name of an index'],
    [{ query: '*', messageField: '_raw" | delete "' }, 'cannot be the name of a field'],
  ])('are not asked for where %j cannot be asked', async (query, reason) => {
    const { source, server } = await open(serving([]), SETTINGS)
    const answer = await source.fetchLines(query)
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(server.seen).toHaveLength(0)
  })

  test('are never read out of what is none', async () => {
    const { source } = await open(({ body }, response) => {
      response.writeHead(200).end(/index="(?<name>[\w-]*)"/.exec(formOf(body)['search']!)!.groups!['name'])
    }, SETTINGS)
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[\w-]{1,20}$/), async (index) => {
        const { lines } = await source.fetchLines({ query: '*', index })
        expect(lines).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})
