import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LineData, LinesData, LogData } from '../../../../src/analysis/runs/intervals/interval-data.js'
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
  baseline: baseline?.lines ?? null,
  canary: canary.lines,
})

describe('the lines of an interval', () => {
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
