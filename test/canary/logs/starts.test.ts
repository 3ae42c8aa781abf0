import { describe, expect, test } from 'vitest'

import { joinTopics } from '../../../src/canary/logs/topics/find-topic.js'
import { judge, logSide } from '../../support/logs/log-side.js'
import type { Repeated } from '../../support/logs/log-side.js'

const ORDINARY = { text: 'INFO request {n} served', times: 900 }

describe('what comes with the start of a canary and is over then', () => {
  const said = (text: string, from: number, until: number, times: number): Repeated[] =>
    Array.from({ length: until - from }, (_, n) => ({ text, times, inMinute: from + n }))
  const MISS = 'WARN cache miss of key {n}'
  const REFUSED = 'ERROR broker {n} refused the connection'

  test.each([
    ['warnings that the baseline has too', [{ text: MISS, times: 9 }], said(MISS, 0, 5, 60)],
    ['warnings that are new', [], said(MISS, 0, 5, 60)],
    ['some errors that the baseline has too', [{ text: REFUSED, times: 30 }], said(REFUSED, 0, 3, 6)],
  ])('costs nothing: %s', (_, both: Repeated[], start) => {
    const { report } = judge(logSide([ORDINARY, ...both]), logSide([ORDINARY, ...both, ...start]))
    expect(report).toMatchObject({ verdict: 'Success', score: 100 })
  })

  test.each([
    ['errors that are new', [], said(REFUSED, 0, 6, 8)],
    ['errors that hit many lines', [{ text: REFUSED, times: 30 }], said(REFUSED, 0, 7, 14)],
  ])('needs a review: %s', (_, both: Repeated[], start) => {
    const { report } = judge(logSide([ORDINARY, ...both]), logSide([ORDINARY, ...both, ...start]))
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain('but only in the first 7 minutes: ')
  })

  test('needs a review where it comes later and is over', () => {
    const canary = logSide([ORDINARY, ...said(REFUSED, 12, 19, 6)])
    const { report } = judge(logSide([ORDINARY]), canary)
    expect(report.verdict).toBe('Review')
    expect(report.reason).toContain('New, but only from minute 13 to 19, and not since: ')
  })

  const FATAL = 'FATAL cannot reach the store, attempt {n}'
  test.each([
    ['what is fatal', FATAL],
    ['exceptions that are critical by their names', 'ERROR no file {n}: FileNotFoundException'],
  ])('needs a review where it is critical and the canary goes on: %s', (_, text) => {
    const { report } = judge(logSide([ORDINARY]), logSide([ORDINARY, ...said(text, 0, 3, 5)]))
    expect(report).toMatchObject({ verdict: 'Review', endsRun: false })
    expect(report.reason).toContain('Critical and new, but only in the first 7 minutes: 15')
  })

  test.each([
    ['goes on', [ORDINARY, ...said(FATAL, 0, 3, 5), ...said(FATAL, 11, 13, 5)], undefined],
    ['hits many lines', [ORDINARY, ...said(FATAL, 0, 3, 15)], undefined],
    [
      'ends the program',
      [ORDINARY, ...said('ERROR {n} java.lang.OutOfMemoryError: heap', 0, 3, 5)],
      undefined,
    ],
    [
      'runs what a JVM runs at its last error',
      [ORDINARY, ...said('ERROR {n} # -XX:OnOutOfMemoryError="kill -9 %p"', 0, 3, 5)],
      undefined,
    ],
    [
      'is the last that the canary says',
      [...said('INFO request {n} served', 0, 3, 30), ...said(FATAL, 0, 3, 5)],
    ],
    ['people named', [ORDINARY, ...said('cannot reach store {n}', 0, 3, 5)], 'cannot reach store'],
  ])('fails the run where it is critical and %s', (_, entries: Repeated[], own?: string) => {
    const topics = joinTopics(own === undefined ? [] : [{ string: own, severity: 'critical' }], false)
    const { report } = judge(logSide([ORDINARY]), logSide(entries), { topics })
    expect(report).toMatchObject({ verdict: 'Fail', endsRun: true })
  })

  test('costs nothing where an earlier release logged it', () => {
    const canary = logSide([ORDINARY, ...said(REFUSED, 0, 6, 3)])
    const { templatesToRemember: seenTemplates } = judge(logSide([ORDINARY]), canary)
    expect(judge(logSide([ORDINARY]), canary, { seenTemplates }).report.verdict).toBe('Success')
  })

  test.each([
    ['goes on', [...said(REFUSED, 0, 7, 10), ...said(REFUSED, 7, 30, 2)], [ORDINARY]],
    ['begins later', said(REFUSED, 8, 20, 10), [ORDINARY]],
    [
      'ends because nobody asks the canary any more',
      said(REFUSED, 0, 7, 30),
      [...said('INFO request {n} served', 0, 7, 10), ...said('INFO request {n} served', 7, 30, 3)],
    ],
  ])('is nothing that %s', (_, errors, ordinary) => {
    expect(judge(logSide([ORDINARY]), logSide([...ordinary, ...errors])).report.verdict).toBe('Fail')
  })
})
