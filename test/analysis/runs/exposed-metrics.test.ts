import { describe, expect, test } from 'vitest'

import { readCanaryGroups } from '../../../src/analysis/runs/definitions/canary-groups.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'
import { judgeInterval } from '../../../src/analysis/runs/intervals/judge-interval.js'
import { readMetricTemplate } from '../../../src/analysis/runs/definitions/metric-template.js'
import { unpackData } from '../../../src/analysis/runs/intervals/pack-interval.js'
import type { RunPlan } from '../../../src/analysis/runs/definitions/plan.js'
import { evaluateInterval } from '../../../src/analysis/runs/evaluate-interval.js'
import type { SeriesAnswer } from '../../../src/analysis/sources.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../support/analyses.js'
import { makeFakeSources } from '../../support/fake-sources.js'

const POINTS = 60
const TIMING = makeTiming({ lifetimeMs: POINTS * MINUTE_MS, intervalMs: POINTS * MINUTE_MS })

/** Errors of a canary by their number of requests, configured as the row says. */
const EXPOSURES = {
  'another metric': { analysisConfigurations: { canary: { direction: 'increase', exposure: 'requests' } } },
  'a query of its own': {
    analysisConfigurations: { canary: { direction: 'increase' } },
    exposureQuery: { customInlineTemplate: 'requests' },
  },
} as const

function planOf(exposure: object): RunPlan {
  const groups = readCanaryGroups({
    metrics: [
      { name: 'errors', query: { customInlineTemplate: 'errors ${version}' }, ...exposure },
      {
        name: 'requests',
        query: { customInlineTemplate: 'requests' },
        analysisConfigurations: { canary: { muted: true } },
      },
    ],
  })
  const side = (version: string) => ({ scope: { version }, startMs: START_MS })
  const sides = { baseline: side('stable'), canary: side('canary') }
  const metrics = { source: 'metrics', aggregate: undefined, ...groups, ...sides }
  return makeRunPlan({ timing: TIMING, targets: [{ name: 'shop', metrics, logs: undefined }] })
}

/**
 * Requests a minute of both sides, and the canary's errors a minute; the baseline has 8 in 1000
 * requests.
 */
interface Traffic {
  readonly canaryRequests: number
  readonly canaryErrors: number
  readonly canaryAnswer?: Partial<SeriesAnswer>
}

async function take(plan: RunPlan, { canaryRequests, canaryErrors, canaryAnswer }: Traffic) {
  const sources = makeFakeSources(({ query, scope }) => {
    const isCanary = scope['version'] === 'canary'
    const constant = (value: number) => ({ values: new Float64Array(POINTS).fill(value) })
    if (query.startsWith('errors')) {
      const mean = isCanary ? canaryErrors : 8
      return { values: Float64Array.from({ length: POINTS }, (_, point) => mean + ((point * 7) % 5) - 2) }
    }
    return isCanary ? (canaryAnswer ?? constant(canaryRequests)) : constant(1000)
  })
  const request = { runId: 1, plan, interval: 1, seenLogTemplates: [] }
  return await evaluateInterval(request, sources, () => START_MS)
}

function errorsOf({ targets }: IntervalReport) {
  return targets[0]?.metrics?.results.find(({ name }) => name === 'errors')
}

describe.each(Object.entries(EXPOSURES))('events that are counted out of what %s says', (_, exposure) => {
  const plan = planOf(exposure)

  test.each([
    ['as many in half of the traffic are twice as many', 500, 8, 'High'],
    ['twice as many in twice the traffic are as many', 2000, 16, 'Pass'],
    ['half as many in half of the traffic are as many', 500, 4, 'Pass'],
  ] as const)('%s', async (__, canaryRequests, canaryErrors, classification) => {
    const { report } = await take(plan, { canaryRequests, canaryErrors })
    expect(errorsOf(report)).toMatchObject({
      classification,
      exposure: { control: 1000 * POINTS, experiment: canaryRequests * POINTS },
    })
  })

  test.each<[string, Partial<SeriesAnswer>, string, RegExp]>([
    [
      'cannot be had',
      { state: 'failed', reasons: ['it answers 503'] },
      'Error',
      /No answer from the source: exposure: it answers 503/,
    ],
    [
      'is not known',
      { state: 'empty', values: new Float64Array(POINTS).fill(Number.NaN) },
      'Nodata',
      /The traffic of the canary is not known/,
    ],
    ['is 0', { values: new Float64Array(POINTS) }, 'Nodata', /The canary had no traffic/],
    [
      'has other points',
      { values: new Float64Array(POINTS - 1).fill(1000) },
      'Error',
      /the exposure has 59 points for 60 values/,
    ],
    [
      'has its points at other times',
      { values: new Float64Array(POINTS).fill(1000), startMs: START_MS + 1 },
      'Error',
      /the exposure has its points at other times/,
    ],
  ])(
    'are not judged, and the run does not pass, where the traffic of a side %s',
    async (__, answer, what, why) => {
      const { report } = await take(plan, { canaryRequests: 0, canaryErrors: 8, canaryAnswer: answer })
      expect(errorsOf(report)).toMatchObject({
        classification: what,
        classificationReason: expect.stringMatching(why) as unknown,
      })
      expect(report.verdict).not.toBe('Success')
    },
  )

  test('do not pass where the traffic is known in part', async () => {
    const half = {
      state: 'incomplete',
      reasons: ['half of it'],
      values: new Float64Array(POINTS).fill(1000),
    } as const
    const { report } = await take(plan, { canaryRequests: 0, canaryErrors: 8, canaryAnswer: half })
    expect(report.verdict).toBe('Review')
    expect(report.errors.join()).toContain('half of it')
  })

  test('are judged alike when the data that were kept are judged again', async () => {
    const { report, data } = await take(plan, { canaryRequests: 500, canaryErrors: 8 })
    const kept: unknown = JSON.parse(JSON.stringify(judgeInterval(plan, unpackData(data)).report))
    expect(kept).toEqual(JSON.parse(JSON.stringify(report)))
  })
})

test('a metric template names the query of what its events are counted out of', () => {
  const metrics = [{ name: 'errors', exposureQuery: 'requests' }, { name: 'load' }]
  const template = readMetricTemplate({ data: { groups: [{ group: 'g', metrics }] } })
  expect(template.metrics.map(({ query, exposureQuery }) => [query, exposureQuery])).toEqual([
    ['errors', 'requests'],
    ['load', undefined],
  ])
})
