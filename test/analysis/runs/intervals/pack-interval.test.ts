import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LinesData, LogData } from '../../../../src/analysis/runs/intervals/interval-data.js'
import type { LineData } from '../../../../src/analysis/sources.js'
import { packedList } from '../../../../src/lib/packing/packed-list.js'
import { packInterval } from '../../../../src/analysis/runs/intervals/pack-interval.js'

const side = (lines: readonly LineData[]): LinesData => ({
  ...{ state: 'complete', reasons: [], query: 'q', startMs: 0, coveredUntilMs: 0, isTruncated: false, lines },
})

function linesOf(logs: readonly (LogData | undefined)[]): unknown {
  const targets = logs.map((each) => ({ metrics: undefined, logs: each }))
  const { lines } = packInterval({ look: 1, targets, seenLogTemplates: [] })
  return JSON.parse(gunzipSync(lines).toString())
}

const asStored = ({ baseline, canary }: LogData): unknown => ({
  baseline: baseline === undefined ? null : [...baseline.lines],
  canary: [...canary.lines],
})

describe('the lines of an interval', () => {
  it('are the same bytes whether they came packed or not', () => {
    const lines = Array.from({ length: 9000 }, (_, index): LineData => [index, `line ${index} of a log`])
    const pack = (given: LinesData['lines']): Uint8Array => {
      const logs = { baseline: undefined, canary: { ...side([]), lines: given } }
      return packInterval({ look: 1, targets: [{ metrics: undefined, logs }], seenLogTemplates: [] }).lines
    }
    expect(pack(packedList(lines))).toEqual(pack(lines))
  })

  it('are what they were when they are unpacked, whatever stands in them', () => {
    const lines = fc.array(
      fc.tuple(fc.option(fc.integer()), fc.string({ unit: 'binary' })) as fc.Arbitrary<LineData>,
    )
    const logs = fc.record({
      baseline: fc.option(lines.map(side), { nil: undefined }),
      canary: lines.map(side),
    })
    fc.assert(
      fc.property(fc.array(fc.option(logs, { nil: undefined }), { maxLength: 4 }), (targets) => {
        const stored = targets.map((each) => (each === undefined ? null : asStored(each)))
        expect(linesOf(targets)).toEqual(stored)
      }),
      { numRuns: 50 },
    )
  })

  it('are whole when they are more than is compressed at once', () => {
    const many = Array.from({ length: 5000 }, (_, index): LineData => [
      index,
      `${index} ${'長'.repeat(1000)}`,
    ])
    expect(linesOf([{ baseline: side(many), canary: side([]) }])).toEqual([{ baseline: many, canary: [] }])
  })
})
