import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { ExportEnd } from '../../src/audit/export-trail.js'
import { exportTrail } from '../../src/audit/export-trail.js'
import type { ExportQuery } from '../../src/audit/export-trail.js'
import { toRecordView } from '../../src/audit/record-view.js'
import { EXPORT_COLUMNS, EXPORT_FORMATS } from '../../src/store/ports/audit-export.js'
import type { AuditEntry } from '../../src/store/ports/audit-store.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const open = useServiceStore()
const BODY = '{"text":"a, \\"b\\"",\n"n":1.50}'

const appendAll: WriteOperation<readonly AuditEntry[], number> = {
  name: 'test.append-all',
  apply: async ({ audit }, entries) => {
    for (const entry of entries) await audit.append(entry)
    return entries.length
  },
}

function entry(columns: Partial<AuditEntry>): AuditEntry {
  return { timeMs: 1_750_000_000_999, source: 'event', kind: 'kind', body: Buffer.from(BODY), ...columns }
}

async function storeOf(entries: readonly Partial<AuditEntry>[]): Promise<TestStore> {
  const store = await open()
  await store.writer.run(appendAll, entries.map(entry))
  return store
}

/** The export, whose last line must contain the number of records. */
async function exported({ reader }: TestStore, query: Partial<ExportQuery>): Promise<string> {
  const chunks: Uint8Array[] = []
  const whole: ExportQuery = { filter: {}, format: 'ndjson', withBodies: false, ...query }
  for await (const lines of exportTrail(reader, whole)) chunks.push(lines)
  const text = Buffer.concat(chunks).toString()
  const start = text.lastIndexOf('\n', text.length - 2) + 1
  const end = new ExportEnd()
  for (const chunk of chunks) end.pass(chunk)
  expect(end.records).toBe(text.slice(0, start).match(/^(?:\{"seq":)?\d+,/gm)?.length ?? 0)
  return text.slice(0, start)
}

const TRICKY: readonly (readonly [string, Partial<AuditEntry>])[] = [
  ['nothing but what it must have', {}],
  [
    'all columns',
    {
      application: 'shop',
      pipeline: 'roll out',
      executionId: '01J0',
      stage: 'Deploy',
      user: 'ann',
      status: 'SUCCEEDED',
      origin: '10.0.0.1',
      eventId: 'one',
    },
  ],
  ['quotes, commas and backslashes', { user: 'a "b", c\\d', stage: '"', pipeline: ',' }],
  [
    'texts that a spreadsheet would run',
    { user: '=1+1', stage: '+1', pipeline: '-1', status: '@x', kind: '＝"a"' },
  ],
  ['texts beyond ASCII', { user: 'Zoë 😀 \u2028', application: 'Zürich' }],
  ['control characters', { user: 'a\u0000b\n\u007fc' }],
  ['an empty text', { user: '', application: '' }],
  ['the first millisecond', { timeMs: 1 }],
  ['the last of the year 9999', { timeMs: 253_402_300_799_999 }],
  ['the first after it', { timeMs: 253_402_300_800_000 }],
  ['the last time there is', { timeMs: 8.64e15 }],
]

describe('an export', () => {
  it.each(TRICKY)('shows a record with %s as the API does', async (_, columns) => {
    const store = await storeOf([columns])
    const record = await store.lookups.audit.find(1)
    if (record === undefined) throw new Error('it was not kept')
    const view = toRecordView(record)
    expect(await exported(store, {})).toBe(`${JSON.stringify(view)}\n`)
    const cells = [EXPORT_COLUMNS, EXPORT_COLUMNS.map((column) => view[column])]
    const sheet = stringify(cells, { escape_formulas: true })
    expect(await exported(store, { format: 'csv' })).toBe(sheet)
  })

  it.each([';=1+1', ' =1+1', '\ufeff=1+1', '\u00a0=1+1', '\u3000+1', '|x', '%x'])(
    'as CSV marks a cell that begins with %j, which some spreadsheets take for a formula',
    async (user) => {
      const store = await storeOf([{ user }])
      expect(await exported(store, { format: 'csv' })).toContain(`,'${user},`)
    },
  )

  it('as CSV has no cell that begins with the sign of a formula, whatever precedes it, and none is lost', async () => {
    const starts = [
      '=',
      '+',
      '-',
      '@',
      '|',
      '%',
      '＝',
      '＠',
      '\u2212',
      '"=',
      '""+',
      "'=",
      '"',
      '\ufeff',
      '\u200b"',
      ' ',
      ';',
      'x',
    ]
    const start = fc.constantFrom(...starts)
    const cell = fc
      .tuple(fc.array(start, { maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([before, end]) => before.join('') + end)
    const bodies = fc.oneof(fc.string(), fc.integer(), cell).map((value) => JSON.stringify(value))
    const records = fc.record({ user: cell, stage: cell, application: cell, body: bodies })
    const sampled = fc.sample(records, { numRuns: 400 })
    const store = await storeOf(
      sampled.map(({ body, ...columns }) => ({ ...columns, body: Buffer.from(body) })),
    )
    const rows = parse(await exported(store, { format: 'csv', withBodies: true }), { from_line: 2 })
    expect(rows).toHaveLength(sampled.length)
    const beforeSign = /^[\s\p{Cc}\p{Cf}\p{Zs}"]*[-=+@＝＋－＠]/u
    expect(rows.flat().filter((text) => beforeSign.test(text))).toEqual([])
    const unmarked = (text: string): string =>
      text.replace(/^'(?=["'\s\p{Cf}\p{Zs}\p{Cc};]*[^\p{L}\p{N}])/u, '')
    expect(rows.map((row) => unmarked(row.at(-1) ?? ''))).toEqual(sampled.map(({ body }) => body))
  })

  it('has each body as it was kept, on one line', async () => {
    const store = await storeOf([{}, {}])
    const lines = (await exported(store, { withBodies: true })).trimEnd().split('\n')
    expect(lines.map((line) => line.slice(line.indexOf(',"body":')))).toEqual(
      Array.from({ length: 2 }, () => `,"body":${BODY.replace('\n', ' ')}}`),
    )
    const sheet = await exported(store, { format: 'csv', withBodies: true })
    expect(sheet).toContain(`,"${BODY.replaceAll('"', '""')}"\n2,`)
  })

  it.each(EXPORT_FORMATS.flatMap((format) => [false, true].map((withBodies) => ({ format, withBodies }))))(
    'has every record once, over many chunks: %o',
    async (query) => {
      const count = 4001
      const body = Buffer.from('{}')
      const store = await storeOf(
        Array.from({ length: count }, (_, index) => ({ timeMs: count - index, body })),
      )
      const numbers = async (filter: ExportQuery['filter']): Promise<number[]> =>
        [...(await exported(store, { ...query, filter })).matchAll(/^(?:\{"seq":)?(\d+),/gm)].map(([, seq]) =>
          Number(seq),
        )
      const inOrder = Array.from({ length: count }, (_, index) => index + 1)
      expect(await numbers({})).toEqual(inOrder)
      expect(await numbers({ kind: 'kind' })).toEqual(inOrder.toReversed())
      expect(await numbers({ fromMs: 2, toMs: count })).toEqual(inOrder.slice(1, -1).toReversed())
    },
  )

  it.each(EXPORT_FORMATS)('has few bodies at a time where they are large: %s', async (format) => {
    const megabyte = Buffer.from(JSON.stringify('x'.repeat(1024 * 1024)))
    const store = await storeOf(Array.from({ length: 14 }, () => ({ body: megabyte })))
    for (const filter of [{}, { kind: 'kind' }]) {
      const sizes: number[] = []
      let text = ''
      for await (const lines of exportTrail(store.reader, { filter, format, withBodies: true })) {
        sizes.push(lines.byteLength)
        text += Buffer.from(lines).toString()
      }
      expect(Math.max(...sizes)).toBeLessThan(6 * 1024 * 1024)
      const numbers = [...text.matchAll(/^(?:\{"seq":)?(\d+),/gm)].map(([, seq]) => Number(seq))
      expect(numbers).toEqual(Array.from({ length: 14 }, (_, index) => index + 1))
    }
  })

  it('ends with a row of as many cells as the others', async () => {
    const store = await storeOf([{}])
    for (const withBodies of [false, true]) {
      const chunks: Uint8Array[] = []
      const query: ExportQuery = { filter: {}, format: 'csv', withBodies }
      for await (const lines of exportTrail(store.reader, query)) chunks.push(lines)
      const rows: string[][] = parse(Buffer.concat(chunks).toString())
      expect(rows.at(-1)?.slice(0, 2)).toEqual(['end', '1'])
      expect(rows.at(-1)).toHaveLength(rows[0]?.length ?? 0)
    }
  })

  it('of nothing is empty', async () => {
    const store = await storeOf([])
    expect(await exported(store, {})).toBe('')
    expect(await exported(store, { filter: { user: 'nobody' } })).toBe('')
  })
})
