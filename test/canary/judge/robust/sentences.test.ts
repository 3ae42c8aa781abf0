import { describe, expect, test } from 'vitest'

import { readCanaryConfig } from '../../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../../src/canary/judge/judge-run.js'
import type { MetricResult } from '../../../../src/canary/judge/series/types.js'
import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()
const MINUTE_MS = 60_000

/** Judges one metric whose points are a minute apart, from ten o'clock on. */
function judgeFrom10(control: number[], experiment: number[]): MetricResult {
  const { metrics, ...rest } = readCanaryConfig({
    metrics: [{ name: 'm', groups: ['g'], values: { control, experiment } }],
  })
  const timed = metrics.map((metric) => ({
    ...metric,
    experiment: { ...metric.experiment, startMs: Date.UTC(2026, 2, 1, 10), stepMs: MINUTE_MS },
  }))
  return judgeMetrics({ ...rest, metrics: timed }, { judge: 'default' }).results[0]!
}

describe('a stretch', () => {
  const late = around(100).map((value, index) => (index >= 40 ? value * 1.3 : value))

  test('is named by the time of day and marked by its points', () => {
    const { classificationReason, finding } = judgeFrom10(around(100), late)
    expect(classificationReason).toMatch(/^From 10:(3\d|4\d) UTC to the end the canary differs/)
    const [found] = (finding?.tests ?? []).filter(
      ({ test: by, change }) => by === 'stretch' && change === 'High',
    )
    expect(found?.stretch?.to).toBe(60)
    expect(found?.stretch?.from).toBeGreaterThan(30)
  })

  test('counts the points of the chart, although overlapping windows were thinned', () => {
    const random = makeRandom(3)
    const averaged = (change: (minute: number) => number): number[] => {
      const raw = points((minute) => change(minute) * (100 + 10 * random.normal()), 244)
      return points((at) => raw.slice(at, at + 5).reduce((sum, value) => sum + value / 5, 0), 240)
    }
    const { finding } = judgeFrom10(
      averaged(() => 1),
      averaged((minute) => (minute >= 160 ? 1.5 : 1)),
    )
    expect(finding?.overlap).toBe(5)
    const [found] = (finding?.tests ?? []).filter(
      ({ test: by, change }) => by === 'stretch' && change === 'High',
    )
    expect(found?.stretch?.to).toBe(240)
    expect(found?.stretch?.from).toBeGreaterThan(120)
  })
})

describe('a score', () => {
  const unknown = { control: around(100, 10, 4), experiment: around(100, 10, 4) }

  test('says nothing if the critical metric was not judged', () => {
    const critical = { ...unknown, canary: { critical: true } }
    expect(judge([{ control: around(100, 1), experiment: around(100, 1) }, critical])).toMatchObject({
      verdict: 'Review',
      score: { unscored: 'critical, not judged' },
    })
  })

  test('says nothing if no metric was judged', () => {
    expect(judge([unknown]).score.unscored).toBe('nothing judged')
  })

  test('stands if an ordinary metric was not judged', () => {
    expect(
      judge([{ control: around(100, 1), experiment: around(100, 1) }, unknown]).score.unscored,
    ).toBeUndefined()
  })
})

describe('the reason of a pass', () => {
  test('claims no detectable change that its interval contains', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = makeRandom(seed)
      const side = (): number[] => points(() => 100 + 15 * random.normal())
      const { classification, classificationReason, finding } = judgeOne({
        control: side(),
        experiment: side(),
      })
      if (classification !== 'Pass' || !classificationReason.includes('Smallest change')) continue
      const { detectable, relative } = finding!
      expect(detectable).toBeGreaterThan(Math.max(...(relative?.interval ?? []).map(Math.abs)) - 1e-9)
    }
  })

  test('does not call more crashes no change for the worse', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = makeRandom(seed)
      const crashes = (share: number): number[] =>
        points(() => (random.uniform() < share ? 0.5 + random.uniform() : 0))
      const { classificationReason } = judgeOne({ control: crashes(0.02), experiment: crashes(0.2) })
      expect(classificationReason).not.toMatch(/for the worse: .* changed by \+/)
    }
  })
})

describe('a pass of which only a fall is harm', () => {
  const decrease = { direction: 'decrease' }
  const [control, experiment] = [simulatedSeries().around(800, 2), simulatedSeries().around(801, 2)]

  test('does not say that nothing changed if a rise of the mean is in the chart', () => {
    const spikes = experiment.map((value, at) => (at % 12 === 3 ? 6 * value : value))
    expect(judgeOne({ control, experiment: spikes, canary: decrease })).toMatchObject({
      classification: 'Pass',
      classificationReason: expect.stringMatching(
        /^The typical value stays, proven .*\. The mean changed by \+\d+ %, and only a fall is harm$/,
      ) as string,
    })
  })

  test('is not proven within a margin that its interval exceeds', () => {
    const risen = around(104, 8)
    const { classificationReason } = judgeOne({
      control: around(100, 8),
      experiment: risen,
      canary: decrease,
    })
    expect(classificationReason).toContain('proven not to fall by more than 5 %')
  })
})
