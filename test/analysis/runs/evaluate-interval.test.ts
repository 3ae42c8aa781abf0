import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { readLogTemplate } from '../../../src/canary/logs/model/log-template.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'
import { judgeInterval } from '../../../src/analysis/runs/intervals/judge-interval.js'
import { readMetricTemplate } from '../../../src/analysis/runs/definitions/metric-template.js'
import { joinLines, unpackData } from '../../../src/analysis/runs/intervals/pack-interval.js'
import type { PlannedLogs, PlannedMetrics, RunPlan } from '../../../src/analysis/runs/definitions/plan.js'
import { evaluateInterval } from '../../../src/analysis/runs/evaluate-interval.js'
import { failedInterval } from '../../../src/analysis/runs/failed-interval.js'
import { intervalBudgetMs } from '../../../src/analysis/runs/intervals/schedule.js'
import type {
  LineData,
  LinesAnswer,
  LinesQuery,
  SeriesAnswer,
  SeriesQuery,
} from '../../../src/analysis/sources.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../support/analyses.js'
import { makeFakeSources, wave } from '../../support/fake-sources.js'
import type { LinesScript, SeriesScript } from '../../support/fake-sources.js'

const TIMING = makeTiming({ lifetimeMs: 60 * MINUTE_MS, intervalMs: 30 * MINUTE_MS })
const SIDES = {
  baseline: { scope: { version: 'stable' }, startMs: START_MS },
  canary: { scope: { version: 'canary' }, startMs: START_MS },
}

function metricsOf(...names: string[]): PlannedMetrics {
  const metrics = names.map((name) => ({ name, riskDirection: 'Higher' }))
  const template = readMetricTemplate({ data: { groups: [{ group: 'load', metrics }] } })
  // The query is the name, and selects each side by its version.
  const own = (query: string): string => (query.includes('${') ? query : `${query} \${version}`)
  const planned = template.metrics.map((metric) => ({ ...metric, query: own(metric.query) }))
  return { source: 'metrics', aggregate: undefined, ...template, metrics: planned, ...SIDES }
}

const LOGS: PlannedLogs = {
  ...{ source: 'logs', query: 'version:${version}', index: undefined, maxLines: undefined, ...SIDES },
  template: readLogTemplate({ templateName: 'app-log' }),
}

function plan(more: Partial<RunPlan['targets'][number]>, timing = TIMING): RunPlan {
  return makeRunPlan({ timing, targets: [{ name: 'shop', metrics: undefined, logs: undefined, ...more }] })
}

function isCanary({ scope }: SeriesQuery | LinesQuery): boolean {
  return scope['version'] === 'canary'
}

/** The canary's values are `factor` times the baseline's. */
function times(factor: number): SeriesScript {
  return (query) => ({ values: wave(query, MINUTE_MS, isCanary(query) ? 10 * factor : 10) })
}

const failed: Partial<SeriesAnswer> = { state: 'failed', reasons: ['metrics: the source answers 503'] }

async function interval(
  planned: RunPlan,
  series: SeriesScript,
  lines?: LinesScript,
  nth = 2,
): Promise<IntervalReport> {
  const request = { runId: 1, plan: planned, interval: nth, seenLogTemplates: [] }
  return (await evaluateInterval(request, makeFakeSources(series, lines), () => START_MS)).report
}

describe('an interval of metrics', () => {
  test.each([
    ['passes what is alike', times(1), 'Success', 100],
    ['fails what is three times as much', times(3), 'Fail', 0],
  ] as const)('%s', async (_, series, verdict, score) => {
    const report = await interval(plan({ metrics: metricsOf('latency') }), series)
    expect(report).toMatchObject({ look: 2, looks: 2, verdict, score, errors: [] })
  })

  test('asks for the window of both sides in the scope of each', async () => {
    const asked: SeriesQuery[] = []
    await interval(
      plan({ metrics: metricsOf('latency{v="${version}"}') }),
      (query) => {
        asked.push(query)
        return {}
      },
      undefined,
      1,
    )
    const window = { startMs: START_MS, endMs: START_MS + 30 * MINUTE_MS, stepMs: MINUTE_MS }
    expect(asked).toMatchObject([
      { ...window, query: 'latency{v="${version}"}', scope: { version: 'stable' } },
      { ...window, query: 'latency{v="${version}"}', scope: { version: 'canary' } },
    ])
  })

  test('asks for no more than four metrics at a time', async () => {
    let [running, most] = [0, 0]
    const sources = makeFakeSources(async (query) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return times(1)(query)
    })
    const names = Array.from({ length: 20 }, (_, index) => `m${index}`)
    const request = {
      runId: 1,
      plan: plan({ metrics: metricsOf(...names) }),
      interval: 2,
      seenLogTemplates: [],
    }
    await evaluateInterval(request, sources, () => START_MS)
    expect(most).toBe(8)
  })

  test('has one time for all its queries together', async () => {
    let nowMs = START_MS
    const budgets: number[] = []
    const sources = makeFakeSources((query, { budgetMs }) => {
      budgets.push(budgetMs)
      nowMs += 100_000
      return times(1)(query)
    })
    const request = {
      runId: 1,
      plan: plan({ metrics: metricsOf('a', 'b') }),
      interval: 2,
      seenLogTemplates: [],
    }
    await evaluateInterval(request, sources, () => nowMs)
    expect(budgets).toEqual([240_000, 140_000, 40_000, 0])
  })

  test.each<[string, SeriesScript]>([
    ['that fails on both sides', () => failed],
    ['that fails for the canary', (query) => (isCanary(query) ? failed : times(1)(query))],
    ['that fails for the baseline', (query) => (isCanary(query) ? times(1)(query) : failed)],
  ])('fails with a source %s, and says so', async (_, series) => {
    const report = await interval(plan({ metrics: metricsOf('latency') }), series)
    expect(report).toMatchObject({ verdict: 'Fail', score: 0, isUnanswered: true })
    expect(report.reason).toMatch(/^No answer from the source for the metrics of shop \(/)
    expect(report.errors.join()).toContain('metrics: the source answers 503')
  })

  test.each([
    ['all metrics are', ['latency'], 'Fail', 'Error'],
    ['one of two is', ['errors ${version}', 'latency'], 'Review', 'Error'],
  ])(
    'never judges a canary against itself: where %s asked alike on both sides',
    async (_, names, verdict, is) => {
      const metrics = metricsOf(...names)
      const asked = metrics.metrics.map((metric, index) => ({ ...metric, query: names[index] ?? '' }))
      const report = await interval(plan({ metrics: { ...metrics, metrics: asked } }), times(1))
      expect(report.verdict).toBe(verdict)
      expect(report.errors.join()).toContain('latency: both sides have the same query')
      expect(report.targets[0]?.metrics?.results.at(-1)?.classification).toBe(is)
    },
  )

  test('judges one query of two times, as of last week and today', async () => {
    const metrics = { ...metricsOf('latency'), baseline: { scope: {}, startMs: START_MS - 600 * MINUTE_MS } }
    const asked = metrics.metrics.map((metric) => ({ ...metric, query: 'latency' }))
    const report = await interval(plan({ metrics: { ...metrics, metrics: asked } }), times(1))
    expect(report.verdict).toBe('Success')
  })

  test('does not pass with one of many metrics that cannot be had', async () => {
    const series: SeriesScript = (query) => (query.query.startsWith('m3 ') ? failed : times(1)(query))
    const report = await interval(plan({ metrics: metricsOf('m1', 'm2', 'm3', 'm4') }), series)
    expect(report.verdict).toBe('Review')
    expect(report.errors).toEqual([
      'shop: m3, baseline: metrics: the source answers 503',
      'shop: m3, canary: metrics: the source answers 503',
    ])
  })

  test('does not pass with half an answer, however good that half is', async () => {
    const half = { state: 'incomplete', reasons: ['metrics: the last 30 points are missing'] } as const
    const report = await interval(plan({ metrics: metricsOf('latency') }), (query) => ({
      ...times(1)(query),
      ...half,
    }))
    expect(report).toMatchObject({ verdict: 'Review', score: 89 })
    expect(report.reason).toContain('the last 30 points are missing')
  })

  test('does not pass with nothing to compare', async () => {
    const report = await interval(plan({ metrics: metricsOf('latency') }), () => ({ state: 'empty' }))
    expect(report.verdict).not.toBe('Success')
  })

  test('fails what names a source that is not there any more', async () => {
    const metrics = { ...metricsOf('latency'), source: 'gone' }
    const report = await interval(plan({ metrics }), times(1))
    expect(report.verdict).toBe('Fail')
    expect(report.errors).toContain('shop: latency, canary: analysis.sources has no source gone of metrics')
  })
})

/** A line a second, each tenth of the canary's another one where it is given. */
function lines(canaryText?: string): LinesScript {
  return (query) => ({
    lines: Array.from({ length: 600 }, (_, index): LineData => [
      index * 1000,
      isCanary(query) && canaryText !== undefined && index % 10 === 0
        ? canaryText
        : `INFO order ${index} is paid`,
    ]),
  })
}

describe('an interval of logs', () => {
  test('passes what is alike', async () => {
    expect(await interval(plan({ logs: LOGS }), () => ({}), lines())).toMatchObject({
      verdict: 'Success',
      errors: [],
    })
  })

  test('are not judged where both sides are asked for the same lines', async () => {
    const report = await interval(plan({ logs: { ...LOGS, query: '*' } }), times(1), lines())
    expect(report.verdict).toBe('Fail')
    expect(report.reason).toMatch(/No answer from the source for the log.*both sides have the same query/)
  })

  test('are judged where the field to filter by tells the sides apart', async () => {
    const template = readLogTemplate({ templateName: 'app-log', filterKey: 'version' })
    const report = await interval(plan({ logs: { ...LOGS, query: '*', template } }), times(1), lines())
    expect(report.verdict).toBe('Success')
  })

  test('fails an error that only the canary has, and shows it', async () => {
    const report = await interval(plan({ logs: LOGS }), () => ({}), lines('FATAL no memory left'))
    expect(report.verdict).toBe('Fail')
    expect(report.targets[0]?.logs?.findings[0]).toMatchObject({
      change: 'new',
      canaryEvents: 60,
      baselineEvents: 0,
    })
  })

  test('says little at the first of many intervals, and more at the last, of the same lines', async () => {
    const timing = makeTiming({ lifetimeMs: 120 * MINUTE_MS, intervalMs: 10 * MINUTE_MS })
    const few: LinesScript = (query) => ({
      lines: isCanary(query)
        ? Array.from({ length: 9 }, (_, n): LineData => [
            query.endMs - query.startMs - (9 - n) * MINUTE_MS,
            'ERROR no stock',
          ])
        : [[0, 'INFO started']],
    })
    const [first, last] = [
      await interval(plan({ logs: LOGS }, timing), () => ({}), few, 1),
      await interval(plan({ logs: LOGS }, timing), () => ({}), few, 12),
    ]
    expect([first, last].map(({ targets }) => targets[0]?.logs?.findings[0]?.isUnexpected)).toEqual([
      false,
      true,
    ])
  })

  test.each<['Fail' | 'Review', string, Partial<LinesAnswer>]>([
    ['Fail', 'does not answer', { state: 'failed', reasons: ['logs: the source answers 503'] }],
    [
      'Review',
      'answers for some of its shards',
      { state: 'incomplete', reasons: ['logs: 2 of 5 shards failed'] },
    ],
  ])('are %s where the source %s', async (verdict, _, answer) => {
    const script: LinesScript = (query) => ({ ...lines()(query), ...answer })
    const report = await interval(plan({ logs: LOGS }), () => ({}), script)
    expect(report.verdict).toBe(verdict)
    expect(report.errors.join()).toContain(answer.reasons?.[0])
  })

  test('names the worse part where metrics pass and the log does not', async () => {
    const planned = plan({ metrics: metricsOf('latency'), logs: LOGS })
    const report = await interval(planned, times(1), lines('FATAL no memory left'))
    expect(report.verdict).toBe('Fail')
    expect(report.reason).toMatch(/^logs: /)
  })

  test('of a canary without a baseline asks for the canary alone', async () => {
    const template = readLogTemplate({ templateName: 'a', scoringAlgorithm: 'autonomous', filterKey: 'pod' })
    const asked: LinesQuery[] = []
    const canary = { scope: { pod: '.*canary.*' }, startMs: START_MS }
    await interval(
      plan({ logs: { ...LOGS, template, canary } }),
      () => ({}),
      (query) => {
        asked.push(query)
        return lines()(query)
      },
    )
    expect(asked).toHaveLength(1)
    expect(asked[0]?.filters).toEqual([{ field: 'pod', value: 'canary', match: 'prefix' }])
  })
})

describe('the data of an interval', () => {
  test('say which interval was judged before, where intervals were left out, so that the judge may use their error', async () => {
    const planned = plan({ metrics: metricsOf('latency') }, { ...TIMING, intervalMs: 6 * MINUTE_MS })
    const takeAfter = async (after: number) => {
      const request = { runId: 1, plan: planned, interval: 10, after, seenLogTemplates: [] }
      const { report, data } = await evaluateInterval(request, makeFakeSources(times(1.2)), () => START_MS)
      expect(judgeInterval(planned, unpackData(data)).report).toEqual(report)
      return report.targets[0]?.metrics?.results[0]?.finding?.alpha ?? 0
    }
    expect(await takeAfter(2)).toBeGreaterThan(2 * (await takeAfter(9)))
  })

  test('give the same report when they are judged again', async () => {
    const planned = plan({ metrics: metricsOf('latency'), logs: LOGS })
    const request = { runId: 1, plan: planned, interval: 2, seenLogTemplates: ['a'] }
    const sources = makeFakeSources((query) => {
      const { values = new Float64Array() } = times(1.2)(query)
      return { values: values.map((value, index) => (index % 7 === 0 ? Number.NaN : value)) }
    }, lines('ERROR no stock left'))
    const { report, ...packed } = await evaluateInterval(request, sources, () => START_MS)
    const kept = joinLines(
      unpackData(packed.data),
      JSON.parse(gunzipSync(packed.lines).toString()) as Parameters<typeof joinLines>[1],
    )
    expect(judgeInterval(planned, kept).report).toEqual(report)
    expect(judgeInterval(planned, kept, 'kayenta').report.targets[0]?.metrics?.judgeName).toBe(
      'NetflixACAJudge-v1.0',
    )
  })
})

test('an interval that could not be judged says why and passes nothing', () => {
  const planned = plan({ metrics: metricsOf('latency') })
  const { report } = failedInterval(
    { runId: 1, plan: planned, interval: 1, seenLogTemplates: [] },
    new Error('full'),
  )
  expect(report).toMatchObject({
    ...{ look: 1, looks: 2, score: 0, verdict: 'Fail', endsRun: false },
    canaryWindow: { startMs: START_MS, endMs: START_MS + 30 * MINUTE_MS },
    errors: ['The interval could not be judged: full'],
  })
})

test.each([
  [3000, 30_000],
  [60_000, 60_000],
  [3_600_000, 240_000],
])('the queries of an interval every %d ms end within %d ms', (intervalMs, budgetMs) => {
  expect(intervalBudgetMs(intervalMs)).toBe(budgetMs)
})
