import { describe, expect, it } from 'vitest'

import { judgeMetrics, readMetricSpecs } from '../../../../src/canary/index.js'
import type { MetricResult } from '../../../../src/canary/index.js'

const POINTS = 60
/** A value between -1 and 1 that depends on its place only. */
const noise = (place: number): number => (Math.sin(place * 12.9898) * 43758.5453) % 1

function hour(level: number, seed: number): Float64Array {
  return Float64Array.from({ length: POINTS }, (_, place) => level * (1 + 0.05 * noise(place + 100 * seed)))
}

/** The result of a canary that is compared with the same hour of several days. */
function judged(levels: readonly number[], canary: number): MetricResult | undefined {
  const units = levels.map((level, index) => hour(level, index))
  const control = { values: units[0] ?? new Float64Array(), units, areTimes: true as const }
  const [spec] = readMetricSpecs({ metrics: [{ name: 'load', groups: ['a'] }] })
  if (spec === undefined) throw new Error('one metric has a spec')
  const input = {
    metrics: [{ spec, control, experiment: { values: hour(canary, 9) } }],
    ...{ groupWeights: {}, thresholds: { pass: 95, marginal: 75 } },
  }
  return judgeMetrics(input, { judge: 'default' }).results[0]
}

describe('a baseline of several earlier times', () => {
  it('lets a canary pass that differs no more than the days do', () => {
    expect(judged([100, 92, 109, 96], 108)?.classification).toBe('Pass')
    expect(judged([100], 108)?.classification).toBe('High')
  })

  it('finds a change beyond the differences of the days', () => {
    expect(judged([100, 92, 109, 96], 200)?.classification).toBe('High')
  })

  it('finds a small change if the days are alike, as with one baseline', () => {
    const found = judged([100, 100, 100, 100], 110)
    expect(found?.classification).toBe('High')
    expect(found?.finding?.units).toBeUndefined()
  })

  it('names the difference of the times in the reason', () => {
    expect(judged([100, 92, 109, 96], 104)?.classificationReason).toMatch(
      /The 4 times of the baseline differ by \d/,
    )
  })
})

describe('a baseline of one other time', () => {
  const DAY_MS = 86_400_000
  const STEP_MS = 60_000

  function judgedAfter(ms: number, canary: number, critical = false): MetricResult | undefined {
    const metric = { name: 'load', groups: ['a'], analysisConfigurations: { canary: { critical } } }
    const [spec] = readMetricSpecs({ metrics: [metric] })
    if (spec === undefined) throw new Error('one metric has a spec')
    const control = { values: hour(100, 1), startMs: 0, stepMs: STEP_MS }
    const experiment = { values: hour(canary, 9), startMs: ms, stepMs: STEP_MS }
    const input = {
      metrics: [{ spec, control, experiment }],
      ...{ groupWeights: {}, thresholds: { pass: 95, marginal: 75 } },
    }
    return judgeMetrics(input, { judge: 'default' }).results[0]
  }

  it.each([false, true])('asks for a review of a change by an eighth: critical %s', (critical) => {
    const result = judgedAfter(DAY_MS, 112, critical)
    expect(result).toMatchObject({
      classification: 'Inconclusive',
      critical: false,
      noData: { state: 'doubtful', policy: 'review' },
    })
    expect(result?.classificationReason).toMatch(
      /The typical value changed by \+12 % .*The baseline is of another time, which may differ as much without any change\. .*baselineTimes/,
    )
  })

  it('fails a change far past its margin', () => {
    expect(judgedAfter(DAY_MS, 150)?.classification).toBe('High')
    expect(judgedAfter(-DAY_MS, 150)?.classification).toBe('High')
  })

  it('counts as of the same time while the windows overlap', () => {
    expect(judgedAfter((POINTS - 1) * STEP_MS, 112)?.classification).toBe('High')
    expect(judgedAfter(POINTS * STEP_MS, 112)?.classification).toBe('Inconclusive')
  })
})
