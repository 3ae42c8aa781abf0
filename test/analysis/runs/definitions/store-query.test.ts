import { describe, expect, test } from 'vitest'

import { readCanaryQueries } from '../../../../src/analysis/runs/definitions/canary-groups.js'
import { withScopeFilters } from '../../../../src/analysis/runs/definitions/scope-filters.js'

const NO_SCOPES = { baseline: {}, canary: {} }

function queryOf(query: object, templates: object = {}): string | undefined {
  const document = { metrics: [{ name: 'm', query }], templates }
  return readCanaryQueries(document).byMetric.get('m')?.query
}

test.each([
  [{ type: 'datadog', metricName: 'avg:trace.duration' }, 'avg:trace.duration{${scope}}'],
  [
    { type: 'datadog', metricName: 'avg:trace.duration', customInlineTemplate: 'service:${service}' },
    'avg:trace.duration{service:${service}}',
  ],
  [{ type: 'graphite', metricName: 'stats.$scope.$location.p99' }, 'stats.${scope}.${location}.p99'],
  [
    { type: 'newrelic', select: "SELECT x FROM Log WHERE a = '${scope}'" },
    "SELECT x FROM Log WHERE a = '${scope}'",
  ],
  [
    { type: 'newrelic', select: 'SELECT count(*) FROM Log', q: "app = '${scope}'" },
    "SELECT count(*) FROM Log WHERE app = '${scope}'",
  ],
  [
    { type: 'atlas', q: 'name,cpu,:eq,nf.cluster,${scope},:eq,:and' },
    'name,cpu,:eq,nf.cluster,${scope},:eq,:and',
  ],
  [
    { type: 'influxdb', customInlineTemplate: 'SELECT mean(v) FROM m WHERE $timeFilter' },
    'SELECT mean(v) FROM m WHERE $timeFilter',
  ],
  [{ type: 'prometheus', metricName: 'up', labelBindings: ['app="a"'] }, 'avg(up{app="a"})'],
])('the query %j is asked as %s', (query, text) => {
  expect(queryOf(query)).toBe(text)
})

test('a template of the config is the filter of a query', () => {
  const query = { type: 'datadog', metricName: 'm', customFilterTemplate: 'mine' }
  expect(queryOf(query, { mine: 'service:$\\{service}' })).toBe('m{service:${service}}')
})

test.each(['influxdb', 'wavefront', 'signalfx', 'datadog', 'graphite', 'newrelic', 'atlas'])(
  'a query of %s that lacks members is refused',
  (type) => {
    expect(() => queryOf({ type, fields: ['mean'] })).toThrow(
      `metric m: query lacks members for a query of ${type}: write the whole query as customInlineTemplate`,
    )
  },
)

describe('a query of stackdriver', () => {
  const latency = { type: 'stackdriver', metricType: 'custom/"latency"' }
  const built = (query: object, templates: object = {}): unknown =>
    JSON.parse(queryOf({ ...latency, ...query }, templates)!)
  const OF_METRIC = 'metric.type="custom/\\"latency\\"" AND resource.type='

  test.each([
    [
      'gce_instance',
      ' AND project="${project}" AND metadata.user_labels."spinnaker-region"="${location}" AND metadata.user_labels."spinnaker-server-group"="${scope}"',
    ],
    [
      'aws_ec2_instance',
      ' AND resource.labels.region="aws:${location}" AND metadata.user_labels."aws:autoscaling:groupname"="${scope}"',
    ],
    ['gae_app', ' AND project="${project}" AND resource.labels.version_id="${scope}"'],
    ['global', ''],
  ])('filters the instances of a scope of %s', (resourceType, filter) => {
    expect(built({ resourceType })).toEqual({ filter: `${OF_METRIC}"${resourceType}"${filter}` })
  })

  test('is aligned, reduced and grouped as it says, with the filter of a template', () => {
    const query = {
      ...{ resourceType: 'k8s_container', customFilterTemplate: 'pods', groupByFields: ['metric.labels.x'] },
      ...{ crossSeriesReducer: 'REDUCE_SUM', perSeriesAligner: 'ALIGN_RATE' },
    }
    expect(built(query, { pods: 'resource.labels.pod_name=starts_with("${scope}")' })).toEqual({
      filter: `${OF_METRIC}"k8s_container" AND resource.labels.pod_name=starts_with("\${scope}")`,
      ...{ crossSeriesReducer: 'REDUCE_SUM', perSeriesAligner: 'ALIGN_RATE' },
      groupByFields: ['metric.labels.x'],
    })
  })

  test('is the template where there is no type of metric', () => {
    const template = 'metric.type="x" AND resource.labels.pod="${pod}"'
    expect(queryOf({ type: 'stackdriver', customInlineTemplate: template })).toBe(template)
  })

  test('says nothing of a project where no scope has one', () => {
    const text = withScopeFilters('m', queryOf({ ...latency, resourceType: 'gae_app' })!, NO_SCOPES)
    expect(JSON.parse(text)).toEqual({
      filter: `${OF_METRIC}"gae_app" AND resource.labels.version_id="\${scope}"`,
    })
  })

  test.each([
    [
      { resourceType: 'k8s_cluster' },
      'has the resourceType k8s_cluster, which has no known filter for the instances of a scope',
    ],
    [{ resourceType: 'toString' }, 'has the resourceType toString'],
    [{}, 'has no resourceType'],
    [{ resourceType: 'global', metricType: '' }, 'has no metricType'],
    [{ resourceType: 'global', customFilter: 'x' }, 'has a customFilter'],
    [{ resourceType: 'global', customFilterTemplate: 'x' }, 'names the customFilterTemplate x'],
  ])('that says %j is refused', (query, reason) => {
    expect(() => queryOf({ ...latency, ...query })).toThrow(reason)
  })
})
