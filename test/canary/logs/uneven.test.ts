import { describe, expect, it } from 'vitest'

import { judge, logSide } from '../../support/logs/log-side.js'
import type { Repeated } from '../../support/logs/log-side.js'

const ORDINARY = 'INFO request {n} served'
const FAILURE = 'ERROR batch {n} failed'
const bursts = (lines: number, ...minutes: readonly number[]): Repeated[] =>
  minutes.map((inMinute) => ({ text: FAILURE, times: lines, inMinute }))
const outage = (lines: number, from: number, until: number): Repeated[] =>
  bursts(lines, ...Array.from({ length: until - from }, (_, n) => from + n))

describe('a canary with a tenth of the traffic', () => {
  const traffic = { text: ORDINARY, times: 6000 }
  const little = { text: ORDINARY, times: 600 }

  it('does not fail for a few bursts of errors as its baseline has them, and needs a review where it has more for its traffic', () => {
    const baseline = logSide([traffic, ...bursts(60, 2, 9, 17)])
    const { report } = judge(baseline, logSide([little, ...bursts(60, 4, 8, 12, 19, 25)]))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain('More frequent by exposure, but in bursts')
  })

  it('does not fail for an outage of several minutes, of which its baseline has some', () => {
    const baseline = logSide([traffic, ...outage(10, 3, 9), ...outage(10, 18, 23)])
    const { report } = judge(baseline, logSide([little, ...outage(8, 10, 16)]))
    expect(report.verdict).not.toBe('Fail')
  })

  it('fails for errors that come all the time, at a rate that its traffic does not explain', () => {
    const baseline = logSide([traffic, { text: FAILURE, times: 60 }])
    const { report } = judge(baseline, logSide([little, { text: FAILURE, times: 60 }]))
    expect(report.verdict).toBe('Fail')
  })

  it('fails for an error that its baseline has all the time and the canary five times as much, be it late', () => {
    const baseline = logSide([traffic, { text: FAILURE, times: 300 }])
    const { report } = judge(baseline, logSide([little, { text: FAILURE, times: 20 }, ...outage(13, 20, 30)]))
    expect(report.verdict).toBe('Fail')
  })
})
