import { describe, expect, test } from 'vitest'

import type { IntervalRequest } from '../../../src/analysis/runs/analysis-runner.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'
import { notificationsOf } from '../../../src/analysis/runs/notifications.js'
import type { NotificationReceiver } from '../../../src/analysis/runs/notifications.js'
import { readMetricSpecs } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import { storeRun } from '../../support/analyses.js'
import { runToEnd, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

const ALL = ['fail', 'review', 'noAnswer', 'end'] as const
const FAIL: Partial<IntervalReport> = { verdict: 'Fail', score: 10, reason: 'latency: +200 %' }
const REVIEW: Partial<IntervalReport> = { verdict: 'Review', score: 80, reason: 'latency: too few points' }

/** A side of one metric as input of the judge, and its result in a report. */
function judgedTarget(canary: (point: number) => number, points = 40): Partial<IntervalReport> {
  const [spec] = readMetricSpecs({ metrics: [{ name: 'latency', groups: ['all'] }] })
  if (spec === undefined) throw new Error('no spec')
  const side = (value: (point: number) => number) => ({
    values: Float64Array.from({ length: points }, (_, n) => value(n)),
  })
  const level = (n: number) => 100 + (n % 7)
  const metric = { spec, control: side(level), experiment: side((n) => level(n) * canary(n)) }
  const metrics = judgeMetrics(
    { metrics: [metric], groupWeights: {}, thresholds: { pass: 95, marginal: 75 } },
    { judge: 'default' },
  )
  return { verdict: 'Review', targets: [{ name: 'shop', metrics, logs: undefined }] }
}

/** The subjects and contents of the messages of a run with these intervals, oldest first. */
async function told(
  reports: readonly Partial<IntervalReport>[],
  receiver: Partial<NotificationReceiver> = {},
): Promise<{ subject: string | undefined; text: string; data: Record<string, unknown> }[]> {
  const store = await openStore()
  const receivers = [{ url: 'http://127.0.0.1:9/hook', on: ALL, applications: undefined, ...receiver }]
  const made = makeRunner(store, {
    evaluateInterval: (request: IntervalRequest) =>
      Promise.resolve(taken(request, reports[request.interval - 1])),
    notifications: (judged) =>
      notificationsOf({ receivers, reportUrl: ({ id }) => `https://tidegate.example/${id}` }, judged),
  })
  await made.runner.start()
  const id = await storeRun(store.writer)
  made.runner.schedule({ id, application: 'shop', dueMs: made.clock.now() })
  await runToEnd(store, id, made)
  return await messagesIn(store)
}

async function messagesIn({ lookups }: TestStore) {
  const messages = await lookups.outbox.list({ limit: 100 })
  return messages.toReversed().map(({ subject, body }) => {
    const { text, data } = JSON.parse(body) as { text: string; data: Record<string, unknown> }
    return { subject: subject?.replace(/^analysis:\d+:/, ''), text, data }
  })
}

describe('a run that goes bad is reported', () => {
  test('while it still runs, with what is wrong and where to look', async () => {
    const [first] = await told([FAIL, {}, {}])
    expect(first?.subject).toBe('fail')
    expect(first?.data).toMatchObject({
      ...{ application: 'shop', executionId: '01J', state: 'RUNNING', verdict: 'Fail', score: 10 },
      ...{ interval: 1, intervals: 3, reason: 'Interval 1 of 3: latency: +200 %' },
      reportUrl: expect.stringContaining('https://tidegate.example/') as string,
      chartUrl: expect.stringMatching(/^https:\/\/tidegate\.example\/\d+\/chart\.png$/) as string,
    })
    expect(first?.text).toContain('❌ **shop: Fail** with 10 of 100 (analysis')
    expect(first?.text).toContain('still running')
  })

  test('once for each event, however many intervals say the same', async () => {
    const subjects = (await told([FAIL, FAIL, FAIL])).map(({ subject }) => subject)
    expect(subjects).toEqual(['fail', 'end'])
  })

  test('as what it is each time that it becomes something else', async () => {
    const unanswered = { ...FAIL, isUnanswered: true, reason: 'nothing is known of shop' }
    const reports = [unanswered, FAIL, { ...REVIEW, ...judgedTarget(() => 3) }]
    expect((await told(reports)).map(({ subject }) => subject)).toEqual(['noAnswer', 'fail', 'review', 'end'])
  })

  test.each([
    ['all is well', [{}, {}, {}], ['end']],
    ['there are too few points yet', [REVIEW, judgedTarget(() => 1, 4), {}], ['end']],
    ['there are too few points at the end, too', [REVIEW, REVIEW, REVIEW], ['review', 'end']],
    ['a metric is worse', [judgedTarget(() => 3), {}, {}], ['review', 'end']],
  ] as const)('only where there is something to see: %s', async (_, reports, subjects) => {
    expect((await told(reports)).map(({ subject }) => subject)).toEqual(subjects)
  })

  test.each([
    ['of other events', { on: ['review'] as const }, []],
    ['of other applications', { applications: ['till'] }, []],
    ['of this application', { applications: ['shop'], on: ['fail'] as const }, ['fail']],
  ])('to who wants to know: %s', async (_, receiver, subjects) => {
    expect((await told([FAIL, FAIL, FAIL], receiver)).map(({ subject }) => subject)).toEqual(subjects)
  })
})
