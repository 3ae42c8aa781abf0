import { expect, test } from 'vitest'

import { readCanaryQueries } from '../../../../src/analysis/runs/definitions/canary-queries.js'

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
  [{ type: 'newrelic', select: 'SELECT count(*) FROM Log' }, 'SELECT count(*) FROM Log'],
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
  'a query of %s that says too little is refused',
  (type) => {
    expect(() => queryOf({ type, fields: ['mean'] })).toThrow(
      `metric m: query says too little of what to ask ${type}: write the whole query as customInlineTemplate`,
    )
  },
)
