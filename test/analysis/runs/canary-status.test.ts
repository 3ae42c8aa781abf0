import { describe, expect, test } from 'vitest'

import {
  canaryStatus,
  unknownCanaryStatus,
  unreadableCanaryStatus,
} from '../../../src/analysis/runs/canary-status.js'
import type { StoredRun } from '../../../src/store/ports/analysis-store.js'
import { MINUTE_MS, START_MS, makeRunPlan } from '../../support/analyses.js'
import { readAsJob, readAsTestVerification, readAsVerification } from '../../support/canary-readers.js'

const REPORT = 'https://tidegate.example/analysis/report/7/token'

function makeRun(more: Partial<StoredRun> = {}): StoredRun {
  return {
    id: 7,
    application: 'shop',
    executionId: '01J',
    owner: 'ana',
    plan: JSON.stringify(makeRunPlan()),
    startedMs: START_MS,
    intervals: 3,
    nextIntervalMs: START_MS + 10 * MINUTE_MS,
    state: 'RUNNING',
    intervalsDone: 0,
    message: 'waiting for the first interval to end',
    errors: [],
    updatedMs: START_MS,
    ...more,
  }
}

function ended(verdict: StoredRun['verdict'], score: number | undefined): Partial<StoredRun> {
  const endMs = START_MS + 30 * MINUTE_MS
  return { state: 'COMPLETED', intervalsDone: 3, verdict, score, finishedMs: endMs, updatedMs: endMs }
}

/** The conclusions of the three clients about a run, from the body of a response. */
function conclusions(body: object): readonly string[] {
  const sent: unknown = JSON.parse(JSON.stringify(body))
  return [readAsVerification(sent), readAsTestVerification(sent), readAsJob(sent, 90)]
}

describe('the readers of a status conclude', () => {
  test.each([
    ['RUNNING', 'RUNNING', 'running', 'before the first interval', {}],
    [
      'RUNNING',
      'RUNNING',
      'running',
      'after a good interval',
      { intervalsDone: 1, score: 100, verdict: 'Success' },
    ],
    [
      'RUNNING',
      'RUNNING',
      'running',
      'after a bad interval',
      { intervalsDone: 1, score: 0, verdict: 'Fail' },
    ],
    ['SUCCEEDED', 'SUCCEEDED', 'successful', 'a success', ended('Success', 97.5)],
    ['SUCCEEDED', 'SUCCEEDED', 'successful', 'a success by the least score', ended('Success', 90)],
    ['TERMINAL', 'SUCCEEDED', 'failed', 'a review', ended('Review', 89)],
    ['TERMINAL', 'TERMINAL', 'failed', 'a failure', ended('Fail', 12.34)],
    ['TERMINAL', 'TERMINAL', 'failed', 'an end without an interval', ended(undefined, undefined)],
    ['TERMINAL', 'TERMINAL', 'cancelled', 'a cancelled run', { state: 'CANCELLED' }],
    [
      'TERMINAL',
      'TERMINAL',
      'cancelled',
      'a run cancelled after a good interval',
      { ...ended('Success', 100), state: 'CANCELLED', intervalsDone: 1 },
    ],
  ] as const)('%s, %s and %s of %s', (verification, testVerification, job, _, more) => {
    expect(conclusions(canaryStatus(makeRun(more), REPORT))).toEqual([verification, testVerification, job])
  })

  test('that a run which does not exist is over', () => {
    expect(conclusions(unknownCanaryStatus('99', 'there is no analysis 99'))).toEqual([
      'TERMINAL',
      'TERMINAL',
      'cancelled',
    ])
  })
})

test('a run that cannot be read just now is polled on', () => {
  expect(conclusions(unreadableCanaryStatus('7', 'the store has stopped; try again'))).toEqual([
    'RUNNING',
    'RUNNING',
    'running',
  ])
})

describe('a status', () => {
  test('has all members from the first answer on', () => {
    expect(canaryStatus(makeRun(), REPORT)).toEqual({
      id: '7',
      owner: 'ana',
      application: 'shop',
      launchedDate: '2026-03-01 12:00:00.000',
      services: [],
      status: { complete: false, status: 'RUNNING' },
      canaryResult: {
        duration: '0 minutes',
        lastUpdated: '2026-03-01 12:00:00.000',
        canaryReportURL: REPORT,
        overallScore: 0,
        overallResult: 'Review',
        intervalNo: 0,
        isLastRun: false,
        message: 'waiting for the first interval to end',
        errors: [],
      },
      canaryConfig: {
        name: 'ana',
        combinedCanaryResultStrategy: 'LOWEST',
        minimumCanaryResultScore: 70,
        maximumCanaryResultScore: 90,
        lifetimeMinutes: 30,
        canaryAnalysisIntervalMins: 10,
      },
    })
  })

  test('of a run that does not exist has the same members', () => {
    const membersOf = (value: object): unknown =>
      Object.entries(value).map(([name, member]: [string, unknown]) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? [name, Object.keys(member)]
          : name,
      )
    expect(membersOf(unknownCanaryStatus('x', 'no'))).toEqual(membersOf(canaryStatus(makeRun(), REPORT)))
  })

  test('tells how long the run took and what went wrong', () => {
    const errors = ['shop: log, canary: the source answers 503']
    const { canaryResult } = canaryStatus(makeRun({ ...ended('Fail', 0), errors }), REPORT)
    expect(canaryResult).toMatchObject({ duration: '30 minutes', isLastRun: true, intervalNo: 3, errors })
  })
})
