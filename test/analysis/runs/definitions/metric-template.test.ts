import { describe, expect, test } from 'vitest'

import { readMetricTemplate } from '../../../../src/analysis/runs/definitions/metric-template.js'
import { problemsOf } from '../../../support/problems-of.js'

function template(metrics: readonly object[], shared: object = {}): object {
  return { templateName: 'shop', data: { ...shared, groups: [{ group: 'load', metrics }] } }
}

function specOf(metric: object, shared?: object): object | undefined {
  return readMetricTemplate(template([{ name: 'cpu{pod="${pod}"}', ...metric }], shared)).metrics[0]?.spec
}

describe('a metric template', () => {
  test('has a query for each name', () => {
    const { metrics } = readMetricTemplate(template([{ name: 'cpu{pod="${pod}"}' }]))
    expect(metrics).toMatchObject([
      {
        query: 'cpu{pod="${pod}"}',
        spec: { name: 'cpu{pod="${pod}"}', groups: ['load'], direction: 'either' },
      },
    ])
  })

  test('with an expression that no run could fill is refused', () => {
    const odd = template([{ name: 'cpu{pod="${pod?upper_case}"}', exposureQuery: 'up{pod="${}"}' }])
    expect(problemsOf(() => readMetricTemplate(odd))).toEqual([
      expect.stringMatching(/name has \$\{pod\?upper_case\}: write/),
      expect.stringMatching(/exposureQuery has \$\{\}: write/),
    ])
  })

  test.each([
    ['more is harm', { riskDirection: 'Higher' }, { direction: 'increase' }],
    ['less is harm', { riskDirection: 'Lower' }, { direction: 'decrease' }],
    ['both are harm', { riskDirection: 'HigherOrLower' }, { direction: 'either' }],
    ['more is harm, in any case', { riskDirection: 'HIGHER' }, { direction: 'increase' }],
    [
      'less is harm, in the word of a canary config',
      { riskDirection: 'decrease' },
      { direction: 'decrease' },
    ],
    ['no direction is given', { riskDirection: null }, { direction: 'either' }],
    ['it fails the run', { criticality: 'CRITICAL' }, { critical: true }],
    ['it is just one of many', { criticality: 'normal' }, { critical: false }],
    ['a gap is 0', { nanStrategy: 'REPLACE' }, { nanStrategy: 'replace' }],
    ['a gap is nothing', { nanStrategy: 'remove' }, { nanStrategy: 'remove' }],
    ['it is only watched', { watchlist: 'true' }, { muted: true }],
    ['it weighs nothing', { metricWeight: '0' }, { muted: true }],
    ['so many percent do not matter', { customThresholdHigher: '20' }, { margin: 0.2 }],
    [
      'the narrower threshold counts',
      { customThresholdHigher: 20, customThresholdLower: 10 },
      { margin: 0.1 },
    ],
    [
      'more than all of the baseline is allowed, as a ratio',
      { customThresholdHigher: 150 },
      { effectSize: { allowedIncrease: 2.5, allowedDecrease: 0 } },
    ],
    ['thresholds have another name in YAML', { customThresholdHigherPercentage: 15 }, { margin: 0.15 }],
  ])('says that %s', (_, metric, spec) => {
    expect(specOf(metric)).toMatchObject(spec)
  })

  test('says once what is meant for all metrics but those that say otherwise', () => {
    const shared = { riskDirection: 'Higher', criticality: 'critical' }
    expect(specOf({}, shared)).toMatchObject({ direction: 'increase', critical: true })
    expect(specOf({ riskDirection: 'Lower' }, shared)).toMatchObject({
      direction: 'decrease',
      critical: true,
    })
  })

  test('may have its groups under the name that they have in YAML', () => {
    const { data } = template([{ name: 'cpu' }]) as { data: object }
    expect(readMetricTemplate({ metricTemplateSetup: data }).metrics).toHaveLength(1)
  })

  test('weighs a group by what its metrics weigh together', () => {
    const groups = [
      {
        group: 'errors',
        metrics: [
          { name: 'a', metricWeight: 2 },
          { name: 'b', metricWeight: '1' },
        ],
      },
      { group: 'load', metrics: [{ name: 'c', metricWeight: 1 }] },
    ]
    expect(readMetricTemplate({ data: { groups } }).groupWeights).toEqual({ errors: 75, load: 25 })
    expect(readMetricTemplate(template([{ name: 'a' }])).groupWeights).toEqual({})
  })

  test('may have one query in two groups, distinguished by their names', () => {
    const groups = [
      { group: 'a', metrics: [{ name: 'cpu' }] },
      { group: 'b', metrics: [{ name: 'cpu' }, { name: 'memory' }] },
    ]
    const { metrics } = readMetricTemplate({ data: { groups } })
    expect(metrics.map(({ spec, query }) => [spec.name, query])).toEqual([
      ['a: cpu', 'cpu'],
      ['b: cpu', 'cpu'],
      ['memory', 'memory'],
    ])
  })

  test.each([
    ['has no groups at all', {}, ['the metric template needs data, with its groups of metrics']],
    ['has no group', { data: { groups: [] } }, [expect.stringMatching(/^data\.groups /)]],
    [
      'has a direction that is not known, or under another name',
      template([
        { name: 'cpu', riskDirection: 'Upwards' },
        { name: 'memory', direction: 'increase' },
      ]),
      [
        'data.groups[0].metrics[0].riskDirection must be Higher, Lower, HigherOrLower, increase, decrease or either, not "Upwards"',
        'data.groups[0].metrics[1].direction is riskDirection in a metric template',
      ],
    ],
    [
      'has a metric without a name, and a weight in words',
      template([{ metricWeight: 'much' }]),
      [expect.stringMatching(/metricWeight/), expect.stringMatching(/name/)],
    ],
  ])('is refused when it %s', (_, document, problems) => {
    expect(problemsOf(() => readMetricTemplate(document))).toEqual(problems)
  })
})
