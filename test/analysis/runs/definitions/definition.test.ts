import { describe, expect, test } from 'vitest'

import { readUsableDefinition } from '../../../../src/analysis/runs/define-analysis.js'
import { readDefinition } from '../../../../src/analysis/runs/definitions/definition.js'
import { problemsOf } from '../../../support/problems-of.js'

const METRICS = { source: 'prometheus', template: 'app-metric' }

describe('a definition', () => {
  test('needs a source and what to ask it; the rest has defaults', () => {
    expect(readDefinition({ metrics: METRICS })).toEqual({
      lifetimeMinutes: 30,
      lookBack: 'growing',
      delayMinutes: 0,
      warmUpMinutes: 0,
      baselineOffsetMinutes: 0,
      baselineTimes: 1,
      stepSeconds: 60,
      judge: 'default',
      scopes: { baseline: {}, canary: {} },
      metrics: METRICS,
    })
  })

  test('may have its minutes as texts, and parts of them', () => {
    const { lifetimeMinutes, intervalMinutes } = readDefinition({
      lifetimeMinutes: '0.5',
      intervalMinutes: '0.05',
      logs: { source: 'loki' },
    })
    expect([lifetimeMinutes, intervalMinutes]).toEqual([0.5, 0.05])
  })

  test.each([
    [
      'nothing to analyse',
      {},
      ['the definition needs metrics, logs or checks: without them there is nothing to analyse'],
    ],
    [
      'earlier times that overlap',
      { metrics: METRICS, baselineTimes: 4, baselineOffsetMinutes: 10 },
      ['the definition needs a baselineOffsetMinutes of at least the lifetime with several baselineTimes'],
    ],
    [
      'instances at several times',
      {
        ...{ metrics: METRICS, baselineTimes: 2, baselineOffsetMinutes: 1440 },
        instances: { source: 'prometheus', query: 'kube_pod_start_time' },
      },
      [expect.stringContaining('has instances and several baselineTimes')],
    ],
    [
      'a window that slides by nothing',
      { metrics: METRICS, lookBack: 'sliding' },
      ['the definition needs lookBackMinutes with a sliding look-back'],
    ],
    [
      'metrics without a template',
      { metrics: { source: 'prometheus' } },
      [expect.stringContaining('needs either template')],
    ],
    [
      'metrics of two kinds',
      { metrics: { ...METRICS, canaryConfig: {} } },
      [expect.stringContaining('needs either template')],
    ],
    [
      'more intervals than a run may have',
      { metrics: METRICS, lifetimeMinutes: 10_000, intervalMinutes: 1 },
      ['the definition needs more than 1000 intervals: set a longer intervalMinutes'],
    ],
    [
      'nothing between its scores',
      { metrics: METRICS, pass: 50, marginal: 80 },
      [expect.stringContaining('a marginal score above its pass score')],
    ],
    [
      'several things at once',
      { metrics: METRICS, lifetimeMinutes: 0, pass: 101, judge: 'mine', lifetime: 30 },
      [
        expect.stringMatching(/^lifetimeMinutes /),
        expect.stringMatching(/^judge /),
        expect.stringMatching(/^pass /),
        expect.stringContaining('lifetime'),
      ],
    ],
  ])('is refused with %s', (_, document, problems) => {
    expect(problemsOf(() => readDefinition(document))).toEqual(problems)
  })

  test('is refused with all its problems and those of its canary config', () => {
    const canaryConfig = {
      metrics: [
        { name: 'a' },
        { name: 'b', query: { metricName: 5 } },
        { name: 'c', query: { metricName: 'c' }, analysisConfigurations: { canary: { nanStrategy: 'x' } } },
      ],
    }
    const document = { lifetimeMinutes: 0, metrics: { source: 'prometheus', canaryConfig } }
    expect(problemsOf(() => readUsableDefinition(document))).toEqual([
      'lifetimeMinutes must be at least 0.05',
      'metrics[1].query.metricName must be a text, not 5',
      'metrics[2].analysisConfigurations.canary.nanStrategy must be remove or replace, not "x"',
    ])
  })
})

describe('expressions of FreeMarker, which no run could fill, are refused', () => {
  const LOGS = { source: 'loki', query: '{pod="${pod}"}' }
  const CHECK = { name: 'budget', source: 'web', query: '/budgets/${version}', rule: 'shop/kept' }

  test.each(["${pod!'none'}", '${pod?upper_case}', '${ pod }', '${}'])(
    'in log queries, indices and checks: %s',
    (odd) => {
      const document = {
        logs: { ...LOGS, query: `{pod="${odd}"}`, index: `web-${odd}` },
        checks: [{ ...CHECK, query: `/budgets/${odd}` }],
      }
      const says = `has ${odd}: write \${name} with a name of the scope; FreeMarker expressions are not evaluated`
      expect(problemsOf(() => readDefinition(document))).toEqual([
        `logs.query ${says}`,
        `logs.index ${says}`,
        `checks[0].query ${says}`,
      ])
    },
  )

  test('names, groups of regular expressions and an open brace are not', () => {
    const query = '{pod="${pod}"} |= "${" | regexp "a" | line_format "${1}"'
    expect(readDefinition({ logs: { ...LOGS, query }, checks: [CHECK] }).logs?.query).toBe(query)
  })
})
