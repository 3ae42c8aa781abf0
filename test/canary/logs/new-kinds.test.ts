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
