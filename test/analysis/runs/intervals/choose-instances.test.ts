import { describe, expect, test } from 'vitest'

import { evaluateInterval } from '../../../../src/analysis/runs/evaluate-interval.js'
import type { IntervalReport } from '../../../../src/analysis/runs/intervals/interval-report.js'
import { readMetricTemplate } from '../../../../src/analysis/runs/definitions/metric-template.js'
import type { PlannedInstances } from '../../../../src/analysis/runs/definitions/plan.js'
import { INSTANCE_SEPARATOR } from '../../../../src/analysis/sources.js'
import type { InstancesAnswer, SeriesQuery } from '../../../../src/analysis/sources.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming, storeRun } from '../../../support/analyses.js'
import { runToEnd, taken, useAnalysisRunners } from '../../../support/analysis-runner.js'
import { useServiceStore } from '../../../support/service-store.js'
import { makeFakeSources, wave } from '../../../support/fake-sources.js'

const HOUR_MS = 60 * MINUTE_MS
const TEN_MINUTES = 10 * MINUTE_MS
const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()
const PLANNED: PlannedInstances = {
  ...{ source: 'metrics', query: 'start{version="${version}"}', label: 'pod', choose: 'newest' },
}

/** An instance by its name, the minutes in which it ran, and the time of its start. */
type Ran = readonly [name: string, from: number, to: number, start: number]

function answerOf(ran: readonly Ran[]): InstancesAnswer {
  return {
    instances: ran.map(([name, from, to, value]) => ({
      ...{ name, value, firstMs: START_MS + from * MINUTE_MS, lastMs: START_MS + to * MINUTE_MS },
    })),
  }
}

const OLD: Ran = ['old', 0, 60, 100]
const MIDDLE: Ran = ['middle', 0, 60, 200]
const YOUNG: Ran = ['young', 0, 60, 300]
const LATE: Ran = ['late', 20, 60, 400]
const ENDED: Ran = ['ended', 0, 40, 500]
const CANARY: readonly Ran[] = [
  ['c2', 0, 60, 900],
  ['c1', 0, 60, 900],
]

async function judge(
  {
    stable,
    canary = CANARY,
    ...planned
  }: { stable: readonly Ran[] | string; canary?: readonly Ran[] } & Partial<PlannedInstances>,
  query = 'cpu{pod=~"${pod}"}',
): Promise<{ report: IntervalReport; asked: readonly SeriesQuery[] }> {
  const template = readMetricTemplate({ data: { groups: [{ group: 'load', metrics: [{ name: 'cpu' }] }] } })
  const side = (version: string) => ({ scope: { version }, startMs: START_MS })
  const metrics = {
    ...{
      source: 'metrics',
      aggregate: undefined,
      ...template,
      baseline: side('stable'),
      canary: side('canary'),
    },
    metrics: template.metrics.map((metric) => ({ ...metric, query })),
  }
  const asked: SeriesQuery[] = []
  const sources = new Map(
    makeFakeSources((series) => {
      asked.push(series)
      if (series.scope['pod'] === undefined)
        return { state: 'failed', reasons: ['${pod} is not in the scope'] }
      return { values: wave(series, MINUTE_MS, 10) }
    }),
  )
  sources.set('metrics', {
    ...sources.get('metrics')!,
    instances: {
      fetchInstances: ({ scope }) => {
        if (scope['version'] === 'canary') return Promise.resolve(answerOf(canary))
        return Promise.resolve(typeof stable === 'string' ? { problem: stable } : answerOf(stable))
      },
    },
  })
  const plan = makeRunPlan({
    timing: makeTiming({ lifetimeMs: HOUR_MS, intervalMs: HOUR_MS }),
    instances: { ...PLANNED, ...planned },
    targets: [{ name: 'shop', metrics, logs: undefined }],
  })
  const request = { runId: 1, plan, interval: 1, seenLogTemplates: [] }
  return { report: (await evaluateInterval(request, sources, () => START_MS)).report, asked }
}

describe('the instances of the baseline', () => {
  test.each([
    ['the newest', {}, ['middle', 'young']],
    ['the oldest', { choose: 'oldest' as const }, ['middle', 'old']],
    ['as many as configured', { size: 3 }, ['middle', 'old', 'young']],
  ])('are %s of those that ran over the whole window', async (_, planned, chosen) => {
    const { report, asked } = await judge({ stable: [OLD, MIDDLE, YOUNG, LATE, ENDED], ...planned })
    expect(asked.map(({ scope }) => scope)).toEqual([
      { version: 'stable', pod: chosen.join(INSTANCE_SEPARATOR) },
      { version: 'canary', pod: ['c1', 'c2'].join(INSTANCE_SEPARATOR) },
    ])
    expect(report).toMatchObject({ verdict: 'Success', errors: [] })
    expect(report.compared).toMatchObject([
      { baseline: { scope: { pod: chosen.join(', ') } }, canary: { scope: { pod: 'c1, c2' } } },
    ])
  })

  test('are none of the canary', async () => {
    const { report } = await judge({ stable: [...CANARY, OLD, MIDDLE] })
    expect(report.compared).toMatchObject([{ baseline: { scope: { pod: 'middle, old' } } }])
  })

  test('need a review if they are too few, with the reason', async () => {
    const { report } = await judge({ stable: [OLD, LATE, ENDED] })
    const few =
      'shop: 1 instance of the baseline ran over the whole window, and 2 are needed; not over all of it: ended, late'
    expect(report).toMatchObject({
      verdict: 'Review',
      errors: [few],
      reason: expect.stringContaining(few) as string,
    })
  })

  test.each([
    ['there are none', [], '0 instances of the baseline ran'],
    ['they are not known', 'metrics answered 503', 'instances of the baseline: metrics answered 503'],
  ])('are missing if %s, which is no success', async (_, stable, problem) => {
    const { report } = await judge({ stable })
    expect(report).toMatchObject({ verdict: 'Fail', isUnanswered: true })
    expect(report.reason).toContain(problem)
  })
})

test('a canary of which no instance ran is no success', async () => {
  const { report } = await judge({ stable: [OLD], canary: [], size: 1 })
  expect(report).toMatchObject({ verdict: 'Fail', isUnanswered: true })
  expect(report.reason).toContain('no instance of the canary ran in the window')
})

test('a run has the chosen instances of each interval in the trail', async () => {
  const store = await openStore()
  const window = { startMs: START_MS, endMs: START_MS + TEN_MINUTES }
  const side = (pod: string) => ({ scope: { pod }, ...window })
  const compared = [{ name: 'shop', part: 'metrics' as const, baseline: side('a, b'), canary: side('c') }]
  const made = makeRunner(store, {
    evaluateInterval: (request) => Promise.resolve(taken(request, { compared })),
  })
  await made.runner.start()
  const instances = { source: 'prom', query: 'up', label: 'pod', choose: 'newest' as const }
  const timing = makeTiming({ lifetimeMs: TEN_MINUTES })
  const id = await storeRun(store.writer, makeRunPlan({ timing, instances }))
  made.runner.schedule({ id, application: 'shop', dueMs: START_MS + TEN_MINUTES })
  await runToEnd(store, id, made)
  const { kind, body } = (await store.lookups.audit.find(2))!
  expect(kind).toBe('analysis.instances-chosen')
  expect(JSON.parse(Buffer.from(body).toString())).toEqual({
    ...{ run: id, interval: 1 },
    instances: [{ name: 'shop', part: 'metrics', baseline: { pod: 'a, b' }, canary: { pod: 'c' } }],
  })
})
