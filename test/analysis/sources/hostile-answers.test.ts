import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'

import { boundedRemarks } from '../../../src/analysis/sources/answers/answers.js'
import { START_MS, makeServedSources } from '../../support/open-source.js'
import type { Respond } from '../../support/loopback-server.js'

const KB = 1024
const LARGE = { maxResponseBytes: 16 * KB * KB }
const prometheus = makeServedSources('prometheus')
const loki = makeServedSources('loki')
afterEach(async () => {
  await prometheus.closeAll()
  await loki.closeAll()
})

const answer =
  (text: string): Respond =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)

const warnings = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index} ${'w'.repeat(KB)}`)

const bytesOf = (texts: readonly string[]): number => texts.join('').length

describe('a source that says more than anybody can read', () => {
  it('has its 12,000 warnings of 1 KB counted and cut, of a series', async () => {
    const data = { resultType: 'matrix', result: [] }
    const text = JSON.stringify({ status: 'success', data, warnings: warnings(12_000) })
    const { source } = await prometheus.open(answer(text), LARGE)
    const { state, reasons, warnings: kept } = await source.fetchSeries({})
    expect(state).toBe('incomplete')
    for (const remarks of [reasons, kept]) {
      expect(bytesOf(remarks)).toBeLessThan(4 * KB)
      expect(remarks.at(-1)).toMatch(/^and \d+ more of the kind, left out$/)
    }
  })

  it('has them cut of lines, too', async () => {
    const data = { resultType: 'streams', result: [] }
    const text = JSON.stringify({ status: 'success', data, warnings: warnings(12_000) })
    const { source } = await loki.open(answer(text), LARGE)
    const { state, reasons } = await source.fetchLines({})
    expect(state).toBe('incomplete')
    expect(bytesOf(reasons)).toBeLessThan(4 * KB)
  })

  it('has the names of its series cut', async () => {
    const result = Array.from({ length: 3 }, (_, index) => ({
      metric: { label: `${index}${'l'.repeat(1000 * KB)}` },
      values: [],
    }))
    const { source } = await prometheus.open(
      answer(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })),
      LARGE,
    )
    const { state, reasons } = await source.fetchSeries({})
    expect(state).toBe('failed')
    expect(reasons.join()).toContain('3 series')
    expect(bytesOf(reasons)).toBeLessThan(KB)
  })

  it('has the rest of a long refusal left unread', async () => {
    const { source } = await prometheus.open((_, response) => {
      response.writeHead(400).write('no such query ')
      const write = (): void => {
        if (!response.destroyed) response.write(' '.repeat(64 * KB), write)
      }
      write()
    }, LARGE)
    const { state, reasons } = await source.fetchSeries({})
    expect(state).toBe('failed')
    expect(reasons.join()).toMatch(/answered 400: no such query$/)
  })

  it('has lines beyond those that it was asked for ignored, and says so', async () => {
    const values = Array.from({ length: 9 }, (_, index) => [`${START_MS}00000${index}`, `line ${index}`])
    const data = { resultType: 'streams', result: [{ values, stream: { app: 'web' } }] }
    const text = JSON.stringify({ status: 'success', data })
    const { source } = await loki.open(answer(text), { pageLines: 5, maxLines: 4 })
    const { lines, reasons } = await source.fetchLines({})
    expect(lines.map((line) => line.text)).toEqual(['line 0', 'line 1', 'line 2', 'line 3'])
    expect(reasons).toContain('the server returned more lines than requested: 4 are left out')
  })

  it.each([
    [
      'values',
      `{"status":"success","data":[${'{},'.repeat(2_600_000)}{}]}`,
      /takes more than 4194304 bytes; narrow the query/,
    ],
    ['levels', '['.repeat(100_000), /nested more than 512 levels deep/],
  ])('is not read when its answer has too many %s', async (_, text, reason) => {
    const { source } = await prometheus.open(answer(text), LARGE)
    const { state, reasons } = await source.fetchSeries({})
    expect(state).toBe('failed')
    expect(reasons.join()).toMatch(reason)
  })
})

describe('bounded remarks', () => {
  it('are few and short, and say how many are left out, whatever they say', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 4000 }), { maxLength: 40 }), (remarks) => {
        const kept = boundedRemarks(remarks)
        expect(kept.length).toBe(remarks.length > 10 ? 11 : remarks.length)
        for (const remark of kept) expect(remark.length).toBeLessThanOrEqual(301)
        if (remarks.length > 10) expect(kept.at(-1)).toContain(`and ${remarks.length - 10} more`)
      }),
      { numRuns: 50 },
    )
  })
})
