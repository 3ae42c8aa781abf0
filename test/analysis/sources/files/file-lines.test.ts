import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { splitLines } from '../../../../src/analysis/sources/files/read-file-lines.js'
import type { FetchBudget, LinesQuery } from '../../../../src/analysis/sources.js'
import { START_MS, openSource, window } from '../../../support/open-source.js'
import type { ReadLines } from '../../../support/open-source.js'

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidegate-lines-'))
})
afterAll(() => rmSync(root, { recursive: true }))

async function fetchFrom(
  name: string,
  text: string | Buffer,
  query: Partial<LinesQuery> = {},
  { budget, ...settings }: { budget?: FetchBudget } & Record<string, unknown> = {},
): Promise<ReadLines> {
  writeFileSync(join(root, name), text)
  const source = openSource({ type: 'file', directory: root, ...settings })
  return source.fetchLines({ query: name, ...query }, budget)
}

const textsOf = ({ lines }: ReadLines): string[] => lines.map(({ text }) => text)

describe('log lines from a file of text', () => {
  test.each([
    [
      'UTF-16',
      Buffer.from('\uFEFF2026-11-21 06:00:00 ERROR Lager antwortet nicht: Größe 長\r\nsecond', 'utf16le'),
    ],
    [
      'UTF-8 with a mark',
      Buffer.from('\uFEFF2026-11-21 06:00:00 ERROR Lager antwortet nicht: Größe 長\r\nsecond'),
    ],
  ])('are read from %s as Windows writes it', async (_encoding, bytes) => {
    const answer = await fetchFrom('windows.log', bytes)
    expect(textsOf(answer)).toEqual(['2026-11-21 06:00:00 ERROR Lager antwortet nicht: Größe 長', 'second'])
  })

  test.each([
    ['10.0.0.7 - - [21/Nov/2026:07:00:02 +0100] "GET / HTTP/1.1" 200 1', 2000],
    ['[21/Nov/2026:06:00:03.123 +0000] "GET / HTTP/1.1" 200 1', 3000],
    ['2026/11/21 06:00:04 [error] 7#7: *1 open() failed', 4000],
  ])('have the time of an access log and of nginx: %s', async (line, afterMs) => {
    const { lines } = await fetchFrom('access.log', line)
    expect(lines.map(({ atMs }) => atMs - START_MS)).toEqual([afterMs])
  })

  test('are those of the window, with the lines that belong to them', async () => {
    const text = [
      '2026-11-21 05:59:59,999 too early',
      '2026-11-21 06:00:00,000 ERROR it broke',
      '\tat shop.Cart.add(Cart.java:7)',
      '[2026-11-21T07:01:00+01:00] in another zone',
      '2026-11-21T06:10:00Z too late',
      '\tat its.trace',
    ].join('\r\n')
    const answer = await fetchFrom('a.log', text)
    expect(answer).toMatchObject({ state: 'complete', query: 'a.log', coveredUntilMs: window(10).endMs })
    expect(answer.lines).toEqual([
      { atMs: START_MS, text: '2026-11-21 06:00:00,000 ERROR it broke' },
      { atMs: START_MS, text: '\tat shop.Cart.add(Cart.java:7)' },
      { atMs: START_MS + 60_000, text: '[2026-11-21T07:01:00+01:00] in another zone' },
    ])
  })

  test('without any time are all taken, with a warning', async () => {
    const answer = await fetchFrom('b.log', 'one\n\ntwo\n')
    expect(answer).toMatchObject({
      state: 'complete',
      warnings: ['b.log: 2 lines without a time are taken to be in the window'],
    })
    expect(textsOf(answer)).toEqual(['one', 'two'])
  })

  test('beyond the limit are left out, and it is said', async () => {
    expect(await fetchFrom('c.log', 'a\nb\nc\n', { limits: { maxLines: 2 } })).toMatchObject({
      state: 'incomplete',
      isTruncated: true,
      lines: [{ text: 'a' }, { text: 'b' }],
    })
    expect(textsOf(await fetchFrom('d.log', 'aaaa\nbbbb\n', {}, { maxBytes: 7 }))).toEqual(['aaaa'])
  })

  test('cannot be filtered by a field', async () => {
    const filters = [{ field: 'pod', value: 'a', match: 'exact' }] as const
    expect(await fetchFrom('e.log', 'a\n', { filters })).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining('no fields to filter by')],
    })
  })

  test('are not read on when the time is used up', async () => {
    const budget = { budgetMs: -1 }
    expect(await fetchFrom('f.log', 'a\n', {}, { budget })).toMatchObject({
      state: 'failed',
      reasons: ['main: the time for reading f.log is used up'],
    })
  })
})

describe('log lines from a file of JSON objects', () => {
  const documents = [
    { '@timestamp': START_MS, message: 'one', kubernetes: { pod: 'web-1' } },
    { '@timestamp': '2026-11-21T06:00:01Z', message: 'two', 'kubernetes.pod': 'web-2' },
    { '@timestamp': START_MS / 1000 + 2, message: 'three', kubernetes: { pod: 'api-1' } },
    { '@timestamp': START_MS - 1, message: 'before' },
  ]
  const text = documents.map((document) => JSON.stringify(document)).join('\n')

  test('have time and text in their fields', async () => {
    const answer = await fetchFrom('a.ndjson', text)
    expect(answer.lines).toEqual([
      { atMs: START_MS, text: 'one' },
      { atMs: START_MS + 1000, text: 'two' },
      { atMs: START_MS + 2000, text: 'three' },
    ])
  })

  test('are filtered by a field', async () => {
    const by = (value: string, match: 'exact' | 'prefix'): Promise<ReadLines> =>
      fetchFrom('b.jsonl', text, { filters: [{ field: 'kubernetes.pod', value, match }] })
    expect(textsOf(await by('web-1', 'exact'))).toEqual(['one'])
    expect(textsOf(await by('web-', 'prefix'))).toEqual(['one', 'two'])
  })

  test('that cannot be read make the answer incomplete', async () => {
    expect(await fetchFrom('c.ndjson', `${text}\nnot JSON\n{"message": 5}\n{}`)).toMatchObject({
      state: 'incomplete',
      reasons: ['c.ndjson: 2 lines have no message that can be read'],
    })
  })
})

describe('a stream split into lines', () => {
  const split = async (...chunks: readonly string[]): Promise<string[]> => {
    const lines: string[] = []
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
    for await (const some of splitLines(stream)) lines.push(...some)
    return lines
  }

  test.each([
    { name: 'across chunks', chunks: ['a', 'b\nc', '\n', 'd'], lines: ['ab', 'c', 'd'] },
    { name: 'with Windows line ends', chunks: ['a\r', '\nb\r\n'], lines: ['a', 'b'] },
    { name: 'with empty lines', chunks: ['\n\na\n'], lines: ['', '', 'a'] },
    { name: 'of nothing', chunks: [], lines: [] },
  ])('gives them $name', async ({ chunks, lines }) => {
    expect(await split(...chunks)).toEqual(lines)
  })

  test('keeps a character whose bytes are split', async () => {
    const bytes = Buffer.from('ä\n')
    const lines: string[][] = []
    for await (const some of splitLines(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)])))
      lines.push(some)
    expect(lines).toEqual([['ä']])
  })

  test('keeps only the start of a line without end', async () => {
    const [line] = await split(...Array.from({ length: 100 }, () => 'x'.repeat(10_000)))
    expect(line).toHaveLength(256 * 1024)
  })
})
