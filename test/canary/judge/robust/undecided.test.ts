import { describe, expect, test } from 'vitest'

import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()

const control = around(100, 10, 20)
const atInterval = (nth: number) => ({ interval: { interval: nth, intervals: 12 } })

describe('a change that an early interval may not decide yet', () => {
  const rise = { control, experiment: around(113, 10, 20) }

  test('is a state of its own, neither a success nor no change', () => {
    const result = judgeOne(rise, atInterval(2))
    expect(result).toMatchObject({
      classification: 'Inconclusive',
      noData: { state: 'undecided', policy: 'review' },
    })
    expect(result.classificationReason).toMatch(
      /^Not decided at this interval\. The typical value changed by \+1\d %/,
    )
    expect(result.classificationReason).not.toContain('No change that matters')
    expect(judge([rise], atInterval(2))).toMatchObject({
      verdict: 'Review',
      score: { classificationReason: expect.stringContaining('m0') as unknown },
    })
  })

  test('is one at the last interval, where there is no such state', () => {
    expect(judgeOne(rise, atInterval(12)).classification).toBe('High')
    expect(judgeOne(rise).classification).toBe('High')
  })
})

test('series that do not touch are told apart at the first of twelve intervals', () => {
  const result = judgeOne({ control, experiment: around(300, 10, 20) }, atInterval(1))
  expect(result.classification).toBe('High')
})

describe('counts of which a few more would be needed to fail', () => {
  const before = points((index) => (index % 2 === 0 ? 1 : 0))
  const risen = (more: number): number[] =>
    points((index) => (index < more ? 1 : 0) + (index % 5 === 0 ? 1 : 0))
  const judged = (more: number) =>
    judgeOne({ control: before, experiment: risen(more), canary: { kind: 'count', direction: 'increase' } })

  test('ask for a review, and fail nothing', () => {
    const canary = { kind: 'count', direction: 'increase', critical: true }
    const result = judgeOne({ control: before, experiment: risen(33), canary })
    expect(result).toMatchObject({ classification: 'High', score: null, critical: false })
    expect(result.noData).toEqual({ state: 'doubtful', policy: 'review' })
    expect(result.classificationReason).toMatch(/This is too little to fail the run\. Check the change$/)
  })

  test('are fine where there are fewer, and fail where there are more', () => {
    expect(judged(12).classification).toBe('Pass')
    expect(judged(45)).toMatchObject({
      classification: 'High',
      score: expect.any(Number) as number,
      noData: null,
    })
  })
})
