import { describe, expect, it } from 'vitest'

import { readCanaryConfig } from '../../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../../src/canary/judge/judge-run.js'
import type { UsualSpread } from '../../../../src/canary/judge/series/types.js'
import { seededNormal, seededRandom } from '../../../../src/canary/judge/series/seeded-random.js'

const noise = seededNormal(seededRandom(7))
const pod = (level: number): number[] => Array.from({ length: 60 }, () => level + noise())

function judge(control: readonly unknown[], experiment: readonly unknown[], usualSpread?: UsualSpread) {
  const input = readCanaryConfig({ metrics: [{ name: 'latency', values: { control, experiment } }] })
  const metrics = input.metrics.map((metric) => ({ ...metric, usualSpread }))
  return judgeMetrics({ ...input, metrics }, { judge: 'default' }).results[0]!
}

describe('pods that differ anyway', () => {
  it('make no change of a difference that lies among them', () => {
    const levels = { control: [100, 112, 91], experiment: [120, 103, 108] }
    const sides = [levels.control, levels.experiment].map((side) => side.map(pod)) as [number[][], number[][]]
    expect(judge(...sides)).toMatchObject({ classification: 'Pass' })
    expect(judge(...sides).classificationReason).toContain(
      '3 units of the canary and 3 of the baseline were compared',
    )
    // One series of the same levels is worse beyond doubt.
    expect(judge(pod(101), pod(110.3))).toMatchObject({ classification: 'High' })
  })

  it('leave a change that lies beyond them', () => {
    const result = judge([100, 103, 98].map(pod), [140, 137, 143].map(pod))
    expect(result).toMatchObject({
      classification: 'High',
      finding: { units: { control: 3, experiment: 3 } },
    })
  })

  it('show it where only one side has several', () => {
    const pods = [100, 103, 98, 101, 97].map(pod)
    expect(judge(pods, pod(105))).toMatchObject({ classification: 'Pass' })
    expect(judge(pods, pod(130))).toMatchObject({ classification: 'High' })
  })

  const proportional = (level: number): number[] =>
    Array.from({ length: 60 }, () => level * (1 + 0.05 * noise()))

  it('are not spread otherwise since one of them is far larger', () => {
    const result = judge([100, 140, 120].map(proportional), [110, 900, 130].map(proportional))
    expect(result.classification).not.toMatch(/High|Low/)
  })

  it('are spread otherwise when each of them is', () => {
    const wide = (level: number): number[] => Array.from({ length: 60 }, () => level + 8 * noise())
    const result = judge([100, 101, 99].map(pod), [100, 101, 99].map(wide))
    expect(result.classification).toMatch(/High|Low/)
    expect(result.classificationReason).toContain('The values spread')
  })

  it('widen the interval to what they allow', () => {
    const result = judge([100, 112, 91].map(pod), [120, 103, 108].map(pod))
    const [lower, upper] = result.finding!.relative!.interval
    expect(lower).toBeLessThan(-0.1)
    expect(upper).toBeGreaterThan(0.2)
  })

  it('may have gaps, and be fewer on one side', () => {
    const restarted = pod(100).map((value, place) => (place > 20 && place < 30 ? null : value))
    expect(judge([pod(100), pod(104), restarted], [pod(101), restarted])).toMatchObject({
      classification: 'Pass',
    })
  })

  it('are all named when they hold what is no number', () => {
    const values = { control: [[1, 'x']], experiment: [[1], [true]] }
    expect(() => readCanaryConfig({ metrics: [{ name: 'm', values }] })).toThrow(
      expect.objectContaining({
        details: [
          expect.objectContaining({ message: expect.stringContaining('values.control[0][1]') as string }),
          expect.objectContaining({ message: expect.stringContaining('values.experiment[1][0]') as string }),
        ],
      }),
    )
  })
})

describe('former runs', () => {
  it('say how far both sides usually lie apart', () => {
    const sides = [pod(100), pod(107)] as const
    expect(judge(...sides)).toMatchObject({ classification: 'High' })
    const usual = judge(...sides, { runs: 20, deviation: 0.04 })
    expect(usual).toMatchObject({ classification: 'Pass', finding: { units: { runs: 20 } } })
    expect(usual.classificationReason).toContain('In 20 former runs both sides differed by 4 %')
    expect(judge(pod(100), pod(130), { runs: 20, deviation: 0.04 })).toMatchObject({ classification: 'High' })
  })

  it('are too few to say so at first', () => {
    expect(judge(pod(100), pod(107), { runs: 4, deviation: 0.04 })).toMatchObject({ classification: 'High' })
  })
})

describe('one pod of ten', () => {
  const ten = (): number[] => [100, 103, 98, 101, 97, 102, 99, 104, 96, 100]

  it('that is slow needs a review, though the mean of all hardly moves', () => {
    const result = judge(ten().map(pod), [...ten().slice(1), 130].map(pod))
    expect(result).toMatchObject({ classification: 'Inconclusive', noData: { state: 'doubtful' } })
    expect(result.classificationReason).toMatch(
      /^One of 10 units of the canary differs from all units of the baseline by \+(29|30|31) % of their mean/,
    )
  })

  it('that has the only errors is one from some minutes of them on', () => {
    const none = pod(0).map(() => 0)
    const errors = (minutes: number): number[] => none.map((_, minute) => (minute < minutes ? 1 : 0))
    const canary = (minutes: number) => [
      ...ten()
        .slice(1)
        .map(() => none),
      errors(minutes),
    ]
    const baseline = ten().map(() => none)
    expect(judge(baseline, canary(1))).toMatchObject({ classification: 'Pass' })
    expect(judge(baseline, canary(20)).classificationReason).toMatch(
      /^One of 10 units of the canary differs from all units of the baseline by 0\.333\. Check/,
    )
  })

  it('is none where pods differ by factors, as those of unequal traffic do', () => {
    const uneven = [20, 35, 45, 60, 80, 100, 130, 170, 240, 420]
    const [first, ...others] = uneven.toReversed()
    const canary = [...others, (first ?? 0) * 2.4]
    expect(judge(uneven.map(pod), canary.map(pod))).toMatchObject({ classification: 'Pass' })
  })

  it('that is as far out as one of the baseline is none', () => {
    const uneven = [...ten().slice(1), 130]
    expect(judge(uneven.map(pod), [...ten().slice(1), 131].map(pod))).toMatchObject({
      classification: 'Pass',
    })
  })
})
