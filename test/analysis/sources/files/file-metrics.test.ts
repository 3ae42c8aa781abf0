import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { SeriesQuery } from '../../../../src/analysis/sources.js'
import type { SeriesAnswer } from '../../../../src/analysis/sources.js'
import { START_MS, openSource, window } from '../../../support/open-source.js'

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidegate-files-'))
  mkdirSync(join(root, 'metrics/shop'), { recursive: true })
  writeFileSync(join(root, 'secret.csv'), 'time,value\n')
  symlinkSync(join(root, 'secret.csv'), join(root, 'metrics/link.csv'))
})
afterAll(() => rmSync(root, { recursive: true }))

async function fetchFrom(
  files: Readonly<Record<string, string>>,
  query: Partial<SeriesQuery>,
  settings: object = {},
): Promise<SeriesAnswer> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'metrics', name), text)
  const source = openSource({ type: 'file', directory: join(root, 'metrics'), ...settings })
  return source.fetchSeries({ ...window(4), query: Object.keys(files)[0] ?? '', ...query })
}

const iso = (minutes: number): string => new Date(START_MS + minutes * 60_000).toISOString()
const seconds = (minutes: number): number => START_MS / 1000 + minutes * 60

describe('a series from a file', () => {
  const forms: readonly { name: string; files: Readonly<Record<string, string>>; query?: string }[] = [
    {
      name: 'CSV with ISO times',
      files: { 'a.csv': `time,value\n${iso(0)},1\n${iso(1)},\n${iso(3)},4.5\n` },
    },
    {
      name: 'CSV with a byte order mark, Windows line ends, quotes and seconds',
      files: { 'b.csv': `\ufeff"timestamp","value"\r\n${seconds(0)},"1"\r\n${seconds(3)},4.5\r\n` },
    },
    {
      name: 'CSV with times without a zone, which are UTC',
      files: { 'c.csv': 'when,latency\n2026-11-21 06:00:00,1\n2026-11-21 06:03:30.5,4.5\n' },
    },
    {
      name: 'a column of several',
      files: { 'd.csv': `time,p50,p99\n${START_MS},8,1\n${START_MS + 180_000},9,4.5\n` },
      query: 'd.csv#p99',
    },
    {
      name: 'JSON objects',
      files: {
        'e.json': JSON.stringify([
          { time: iso(0), value: 1 },
          { time: iso(1), value: null },
          { time: iso(3), value: '4.5' },
        ]),
      },
    },
    {
      name: 'JSON with a start and a step',
      files: {
        'f.json': JSON.stringify({ startMs: START_MS, stepMs: 60_000, values: [1, null, null, 4.5] }),
      },
    },
    {
      name: 'a recorded answer of Prometheus',
      files: {
        'g.json': JSON.stringify({
          status: 'success',
          data: {
            resultType: 'matrix',
            result: [
              {
                metric: {},
                values: [
                  [seconds(0), '1'],
                  [seconds(3), '4.5'],
                ],
              },
            ],
          },
        }),
      },
    },
  ]
  test.each(forms)('may be $name', async ({ files, query }) => {
    const answer = await fetchFrom(files, query === undefined ? {} : { query })
    expect(answer).toMatchObject({ state: 'complete', reasons: [] })
    expect([...answer.values]).toEqual([1, NaN, NaN, 4.5])
  })

  test('is found by the scope', async () => {
    const answer = await fetchFrom(
      { 'shop/web-1.csv': `time,value\n${iso(1)},7\n` },
      { query: '${app}/${pod}.csv', scope: { app: 'shop', pod: 'web-1' } },
    )
    expect(answer).toMatchObject({ query: 'shop/web-1.csv', values: Float64Array.of(NaN, 7, NaN, NaN) })
  })

  test('is empty where the file has nothing in the window', async () => {
    expect(await fetchFrom({ 'h.csv': `time,value\n${iso(90)},1\n` }, {})).toMatchObject({ state: 'empty' })
    expect(await fetchFrom({ 'i.csv': '' }, {})).toMatchObject({ state: 'empty' })
  })

  test('with several values in a step needs to be told how they are joined', async () => {
    const files = { 'j.csv': `time,value\n${iso(0)},1\n${iso(0.5)},5\n` }
    expect(await fetchFrom(files, {})).toMatchObject({
      state: 'failed',
      reasons: [
        'steps with several values: 1; say how they are joined (aggregate: sum, average, min or max)',
      ],
    })
    expect((await fetchFrom(files, { aggregate: 'average' })).values[0]).toBe(3)
  })

  test('has a point once that is written twice, and fails for two values of one time', async () => {
    const files = {
      'twice.csv': `time,value\n${iso(0)},1\n${iso(0)},1\n${iso(1)},2\n${iso(1)},2\n`,
      'contrary.csv': `time,value\n${iso(0)},1\n${iso(1)},2\n${iso(1)},5\n`,
    }
    const twice = await fetchFrom(files, { query: 'twice.csv' })
    expect(twice).toMatchObject({ state: 'complete', values: Float64Array.of(1, 2, NaN, NaN) })
    expect(await fetchFrom(files, { query: 'contrary.csv' })).toMatchObject({
      state: 'failed',
      reasons: [
        `${iso(1)} has the values 2 and 5: keep one of them, or set how values are joined (aggregate: sum, average, min or max)`,
      ],
    })
  })

  test('is incomplete where rows have no time that can be read', async () => {
    expect(await fetchFrom({ 'k.csv': `time,value\n${iso(0)},1\nsoon,2\n` }, {})).toMatchObject({
      state: 'incomplete',
      reasons: ['k.csv: 1 rows have no time that can be read'],
    })
  })
})

describe('a file that gives no series', () => {
  const failures: readonly {
    name: string
    files?: Readonly<Record<string, string>>
    query?: string
    reason: string
  }[] = [
    { name: 'is not there', query: 'none.csv', reason: 'main: there is no none.csv' },
    { name: 'is outside', query: '../secret.csv', reason: 'leads outside of the directory' },
    { name: 'is absolute', query: '/etc/hostname', reason: 'leads outside of the directory' },
    { name: 'is linked from outside', query: 'link.csv', reason: 'leads outside of the directory' },
    { name: 'is a directory', query: 'shop', reason: 'is no regular file' },
    {
      name: 'has several columns and none is named',
      files: { 'l.csv': 'time,p50,p99\n1,2,3\n' },
      reason:
        'main: l.csv: it has no single column of values: name one of p50, p99 after #, as in file.csv#name',
    },
    {
      name: 'lacks the column',
      files: { 'm.csv': 'time,p50\n1,2\n' },
      query: 'm.csv#p99',
      reason: 'it has no column p99',
    },
    {
      name: 'holds a word',
      files: { 'n.csv': 'time,value\n1,many\n' },
      reason: 'its column value holds "many", which is no number',
    },
    {
      name: 'has a row that is too long',
      files: { 'o.csv': 'time,value\n1,2,3\n' },
      reason: 'it is not well-formed CSV',
    },
    { name: 'is half a JSON', files: { 'p.json': '[{"time": 1' }, reason: 'it is not JSON' },
    { name: 'is other JSON', files: { 'q.json': '{"a": 1}' }, reason: 'it must be a list of objects' },
    {
      name: 'is too large',
      files: { 'r.csv': `time,value\n${'1,2\n'.repeat(300_000)}` },
      reason: 'r.csv has more than 1048576 bytes',
    },
  ]
  test.each(failures)('says why: it $name', async ({ files = {}, query, reason }) => {
    expect(await fetchFrom(files, query === undefined ? {} : { query })).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining(reason)],
    })
  })
})
