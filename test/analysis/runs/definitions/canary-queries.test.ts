import { describe, expect, test } from 'vitest'

import {
  readCanaryGroups,
  readCanaryQueries,
} from '../../../../src/analysis/runs/definitions/canary-groups.js'
import { problemsOf } from '../../../support/problems-of.js'

function queryOf(query: object, templates?: object): string | undefined {
  return readCanaryQueries({ metrics: [{ name: 'm', query }], templates }).byMetric.get('m')?.query
}

describe('the exposure of a metric', () => {
  const canaryConfig = (metric: object) => ({
    metrics: [
      { name: 'errors', query: { metricName: 'errors' }, ...metric },
      { name: 'requests', query: { metricName: 'requests' } },
    ],
  })
  const naming = (exposure: string) => ({ analysisConfigurations: { canary: { exposure } } })

  test('is asked by a query of its own, in the form of any other', () => {
    const exposureQuery = { customInlineTemplate: 'PromQL:sum(requests)' }
    const { metrics } = readCanaryGroups(canaryConfig({ exposureQuery }))
    expect(metrics.map(({ query, exposureQuery: asked }) => [query, asked])).toEqual([
      ['avg(errors)', 'sum(requests)'],
      ['avg(requests)', undefined],
    ])
  })

  test('is what another metric gives', () => {
    const { metrics } = readCanaryGroups(canaryConfig(naming('requests')))
    expect(metrics[0]).toMatchObject({ spec: { exposure: 'requests' }, exposureQuery: undefined })
  })

  test.each([
    [naming('traffic'), /exposure: there is no metric named "traffic"/],
    [naming('errors'), /must be another metric/],
    [{ ...naming('requests'), exposureQuery: { metricName: 'requests' } }, /has exposureQuery too/],
    [{ exposureQuery: { groupByFields: ['zone'] } }, /metric errors: exposureQuery is required/],
  ])('%# is refused where it says nothing', (metric, message) => {
    expect(problemsOf(() => readCanaryGroups(canaryConfig(metric))).join('\n')).toMatch(message)
  })
})

describe('the query of a metric', () => {
  test.each([
    ['of a name alone', { metricName: 'errors' }, 'avg(errors)'],
    [
      'with its labels',
      { metricName: 'errors', labelBindings: ['app="shop"', ' pod=~"${pod}" '] },
      'avg(errors{app="shop",pod=~"${pod}"})',
    ],
    [
      'with the fields to group by',
      { metricName: 'errors', groupByFields: ['zone', 'app'] },
      'avg(errors) by (zone, app)',
    ],
    [
      'written as a whole',
      { metricName: 'errors', customInlineTemplate: 'PromQL: sum(rate(errors[1m]))' },
      'sum(rate(errors[1m]))',
    ],
    [
      'with filters of its own before its labels, as Kayenta sends both',
      { metricName: 'errors', customInlineTemplate: '{app="${scope}"}', labelBindings: ['x="y"'] },
      'avg(errors{app="${scope}",x="y"})',
    ],
    [
      'of instances of Google, whatever their project',
      { metricName: 'cpu', resourceType: 'gce_instance', labelBindings: ['x="y"'] },
      'avg(cpu{x="y",instance=~"${scope}-.{4}",zone=~".+/projects/${project}/zones/${location}-.{1}"})',
    ],
    [
      'of instances of Amazon',
      { metricName: 'cpu', resourceType: 'aws_ec2_instance' },
      'avg(cpu{asg_groupName="${scope}",zone=~"${location}.{1}"})',
    ],
    [
      'with a filter of its own instead of those of its resource type, which it may name',
      {
        metricName: 'cpu',
        resourceType: 'k8s',
        customInlineTemplate: 'pod=~"$\\{scope}.*",type="${resourceType}"',
      },
      'avg(cpu{pod=~"${scope}.*",type="k8s"})',
    ],
    ['in the language of another source', { customInlineTemplate: 'latency.csv#p99' }, 'latency.csv#p99'],
    [
      'with the filters of a template',
      { metricName: 'errors', customFilterTemplate: 'own' },
      'avg(errors{app="shop"})',
    ],
    ['with a template that is a whole query', { metricName: 'errors', customFilterTemplate: 'whole' }, 'up'],
    [
      'with nulls for what is not set',
      { metricName: 'up', labelBindings: null, groupByFields: null },
      'avg(up)',
    ],
  ])('%s', (_, query, text) => {
    expect(queryOf(query, { own: 'app="shop"', whole: 'PromQL:up' })).toBe(text)
  })

  test.each([
    [
      'a resource type of which nobody knows the labels',
      { resourceType: 'k8s' },
      /resourceType k8s.*labelBindings/,
    ],
    [
      'a filter that Kayenta reads no more',
      { customFilter: 'app="shop"' },
      /customFilter, which.*customInlineTemplate/,
    ],
    [
      'a template that is not there',
      { customFilterTemplate: 'other' },
      /customFilterTemplate other, which does not exist: there are own/,
    ],
    ['a number of FreeMarker', { customInlineTemplate: 'app="#{scope}"' }, /directives of FreeMarker/],
    ['a template that decides', { customInlineTemplate: '<#if x>a</#if>' }, /directives of FreeMarker/],
  ])('is refused with %s: it would be asked for both sides alike', (_, query, message) => {
    const asked = { metricName: 'cpu', labelBindings: ['app="${scope}"'], ...query }
    const metrics = [
      { name: 'm', query: asked },
      { name: 'n', query: { metricName: 'up' }, exposureQuery: asked },
    ]
    const problems = problemsOf(() => readCanaryQueries({ metrics, templates: { own: 'x' } }))
    expect(problems).toEqual([
      expect.stringMatching(message),
      expect.stringMatching(/^metric n: exposureQuery/),
    ])
  })

  test('must be there for every metric: all that lack one are named', () => {
    const metrics = [{ name: 'a' }, { name: 'b', query: { metricName: 'b' } }, { name: 'c', query: {} }]
    expect(problemsOf(() => readCanaryQueries({ metrics }))).toEqual([
      'metric a: query is required',
      'metric c: query is required',
    ])
  })
})

describe('a query for one metric store', () => {
  test('is refused with members of another, each named with its stores', () => {
    const metrics = [
      { name: 'a', query: { metricName: 'cpu', q: 'name,cpu,:eq', select: 'count(*)', labelBindings: [] } },
      { name: 'b', query: { type: 'datadog', metricName: 'cpu', tags: { app: 'shop' }, metricType: 'x' } },
    ]
    const ofPrometheus =
      'does nothing for prometheus, which a query without a type is for: leave it out, or correct type'
    expect(problemsOf(() => readCanaryQueries({ metrics }))).toEqual([
      `metric a: query has q of atlas, newrelic, which ${ofPrometheus}`,
      `metric a: query has select of newrelic, which ${ofPrometheus}`,
      'metric b: query has metricType of stackdriver, which does nothing for datadog: leave it out, or correct type',
      'metric b: query has tags of influxdb, which does nothing for datadog: leave it out, or correct type',
    ])
  })

  test('may have those members empty, as Kayenta writes what is left out', () => {
    expect(queryOf({ metricName: 'cpu', q: '', select: null, tags: {}, fields: [] })).toBe('avg(cpu)')
  })
})

describe('a template', () => {
  test('gets the name of the metric, and keeps the values of the scope for the run', () => {
    const customInlineTemplate = 'PromQL:rate(${metricName}{pod="${scope}",x="${1}"}[5m])'
    expect(queryOf({ metricName: 'errors', customInlineTemplate })).toBe(
      'rate(errors{pod="${scope}",x="${1}"}[5m])',
    )
  })

  test.each([
    ['${scope?upper_case}', '${scope?upper_case}'],
    ["${scope!'none'}", "${scope!'none'}"],
    ['${scope!{"a":1}}', '${scope!{"a":1}'],
    ['${scope', '${scope"}'],
    ['${metricName}', '${metricName}, and no metricName'],
  ])('with %s is refused with what can be written', (expression, shown) => {
    const query = { customInlineTemplate: `PromQL:sum(up{pod="${expression}"})` }
    expect(problemsOf(() => readCanaryQueries({ metrics: [{ name: 'm', query }] }))).toEqual([
      `metric m: query has ${shown}: write \${name} with a name of the scope or \${metricName}; FreeMarker expressions are not evaluated`,
    ])
  })
})

test('a canary config of Kayenta is taken as it is', () => {
  const config = {
    id: 'a1',
    name: 'shop',
    description: 'as people keep it',
    applications: ['shop'],
    configVersion: '1.0',
    judge: { name: 'NetflixACAJudge-v1.0', judgeConfigurations: {} },
    metrics: [
      {
        name: 'errors',
        groups: ['errors'],
        scopeName: 'default',
        query: { type: 'prometheus', serviceType: 'prometheus', metricName: 'errors', labelBindings: [] },
        analysisConfigurations: { canary: { direction: 'increase', critical: true, nanStrategy: 'replace' } },
      },
    ],
    templates: {},
    classifier: { groupWeights: { errors: 100 }, scoreThresholds: { pass: 95, marginal: 75 } },
  }
  const { metrics, groupWeights, thresholds } = readCanaryGroups(config)
  expect(metrics).toMatchObject([
    {
      query: 'avg(errors)',
      spec: { name: 'errors', critical: true, direction: 'increase', groups: ['errors'] },
    },
  ])
  expect({ groupWeights, thresholds }).toEqual({
    groupWeights: { errors: 100 },
    thresholds: { pass: 95, marginal: 75 },
  })
})

test.each([
  [{ pass: 90 }, { pass: 90, marginal: 75 }],
  [
    { pass: null, marginal: 60 },
    { pass: 95, marginal: 60 },
  ],
  [null, undefined],
])('a classifier with the scores %j keeps its weights', (scoreThresholds, thresholds) => {
  const groups = readCanaryGroups({
    metrics: [{ name: 'm', query: { metricName: 'm' } }],
    classifier: { groupWeights: { a: 60 }, scoreThresholds },
  })
  expect(groups).toMatchObject({ groupWeights: { a: 60 } })
  expect(groups.thresholds).toEqual(thresholds)
})
