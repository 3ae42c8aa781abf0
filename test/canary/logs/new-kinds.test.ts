import { describe, expect, test } from 'vitest'

import { judge, logSide } from '../../support/logs/log-side.js'

const ORDINARY = { text: 'INFO request {n} served', times: 900 }
const baseline = logSide([ORDINARY])
const failures = (times: number, inMinute?: number) => ({
  text: 'ERROR order {n} not stored: connection refused',
  times,
  ...(inMinute !== undefined && { inMinute }),
})

describe('a new kind of error', () => {
  test.each([5, 7, 15, 19])('needs a review with %i lines in one minute', (times) => {
    const { report } = judge(baseline, logSide([ORDINARY, failures(times, 12)]))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toMatch(/^"order <\*> not stored: connection refused": New/)
  })

  test.each([5, 7, 15, 19])('is no success with %i lines over the window', (times) => {
    expect(judge(baseline, logSide([ORDINARY, failures(times)])).report.verdict).not.toBe('Success')
  })

  test('needs a review with three lines that are a hundredth of a short log', () => {
    const few = { ...ORDINARY, times: 200 }
    expect(judge(logSide([few]), logSide([few, failures(3)])).report.verdict).toBe('Review')
  })

  test('with fewer lines is a success that mentions them', () => {
    const { report } = judge(baseline, logSide([ORDINARY, failures(2)]))
    expect(report.verdict).toBe('Success')
    expect(report.reason).toContain('Too few new errors to need a review: "order <*> not stored')
  })

  test('that an earlier release logged is none', () => {
    const { templatesToRemember } = judge(baseline, logSide([ORDINARY, failures(9)]))
    const { report } = judge(baseline, logSide([ORDINARY, failures(5, 3)]), {
      seenTemplates: templatesToRemember,
    })
    expect(report.verdict).toBe('Success')
  })
})

describe('errors that are not proven to be worse', () => {
  const known = (times: number) => ({ text: 'ERROR order {n} not stored: connection refused', times })

  test('need a review if they come five times as often and are five more', () => {
    const { report } = judge(logSide([ORDINARY, known(2)]), logSide([ORDINARY, known(10)]))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toBe(
      '"order <*> not stored: connection refused": More frequent: 10 in the canary, 2 in the baseline. This needs a review',
    )
  })

  test.each([
    [1, 5],
    [10, 15],
  ])('are not called equally frequent: %i and %i', (before, now) => {
    const { report } = judge(logSide([ORDINARY, known(before)]), logSide([ORDINARY, known(now)]))
    expect(report.verdict).toBe('Success')
    expect(report.reason).toBe('No error is new, and none is proven to be more frequent')
  })

  const KINDS = [
    'disk quota exceeded',
    'no such invoice',
    'unknown currency',
    'token mismatch',
    'mail queue full',
  ]
  const kinds = (count: number) => KINDS.slice(0, count).map((text) => ({ text: `ERROR ${text}`, times: 1 }))

  test('need a review if five lines of several kinds are the only errors', () => {
    const { report } = judge(baseline, logSide([ORDINARY, ...kinds(5)]))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toMatch(
      /^"<all errors together>": New(, in bursts)?: 5 in the canary, 0 in the baseline/,
    )
    expect(judge(baseline, logSide([ORDINARY, ...kinds(4)])).report.verdict).toBe('Success')
  })

  test('need none if an earlier release logged them', () => {
    const { templatesToRemember } = judge(baseline, logSide([ORDINARY, ...kinds(5)]))
    const { report } = judge(baseline, logSide([ORDINARY, ...kinds(5)]), {
      seenTemplates: templatesToRemember,
    })
    expect(report.verdict).toBe('Success')
  })
})
