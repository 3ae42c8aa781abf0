import { afterEach, describe, expect, test } from 'vitest'

import { readCanaryGroups } from '../../../../src/analysis/runs/definitions/canary-groups.js'
import { readDefinition } from '../../../../src/analysis/runs/definitions/definition.js'
import { makePlan } from '../../../../src/analysis/runs/definitions/make-plan.js'
import type { PlannedMetrics } from '../../../../src/analysis/runs/definitions/plan.js'
import { readRegistration } from '../../../../src/analysis/runs/definitions/registration.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { SeenRequest } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources } from '../../../support/open-source.js'
import { searched } from '../../sources/points/recorded-kinds.js'

/** A config of Kayenta's users, and its query to a store for one side's scope. */
interface Config {
  readonly title: string
  readonly query: { readonly type: Type } & Readonly<Record<string, unknown>>
  readonly templates?: Readonly<Record<string, string>>
  readonly baseline: Readonly<Record<string, string>>
  readonly canary: Readonly<Record<string, string>>
  readonly sent: readonly [baseline: string, canary: string]
}
type Type = keyof typeof SENT

const parameter =
  (name: string) =>
  (request: SeenRequest): unknown =>
    (searched(request) as Readonly<Record<string, unknown>>)[name]
/** The member of a request with the text of the query. */
const SENT = {
  prometheus: ({ body }: SeenRequest) => new URLSearchParams(body).get('query'),
  datadog: parameter('query'),
  graphite: parameter('target'),
  atlas: parameter('q'),
  wavefront: parameter('q'),
  influxdb: parameter('q'),
  signalfx: parameter('query'),
  stackdriver: parameter('filter'),
  newrelic: ({ body }: SeenRequest) =>
    (JSON.parse(body) as { readonly variables: { readonly nrql: string } }).variables.nrql,
}
const SETTINGS: Partial<Record<Type, object>> = {
  influxdb: { database: 'web' },
  newrelic: { account: 42 },
}
const UNTIL_MS = START_MS + 600_000
const NRQL_WINDOW = `TIMESERIES 60 SECONDS SINCE ${START_MS} UNTIL ${UNTIL_MS}`
const INFLUX_WINDOW = `(time >= ${START_MS}ms AND time < ${UNTIL_MS}ms)`
const NEW_RELIC = { type: 'newrelic', select: 'SELECT count(*) FROM Transaction' } as const

const CONFIGS: readonly Config[] = [
  {
    title: 'Prometheus by its resource type',
    query: {
      type: 'prometheus',
      metricName: 'cpu',
      resourceType: 'aws_ec2_instance',
      labelBindings: ['a="b"'],
    },
    baseline: { scope: 'shop-v1', location: 'eu-west-1' },
    canary: { scope: 'shop-v2', location: 'eu-west-1' },
    sent: [
      'avg(cpu{a="b",asg_groupName="shop-v1",zone=~"eu-west-1.{1}"})',
      'avg(cpu{a="b",asg_groupName="shop-v2",zone=~"eu-west-1.{1}"})',
    ].map((text) => text.replace('eu-west-1.', 'eu\\\\-west\\\\-1.')) as [string, string],
  },
  {
    title: 'Prometheus by a template, grouped',
    query: { type: 'prometheus', metricName: 'cpu', customFilterTemplate: 'pods', groupByFields: ['zone'] },
    templates: { pods: 'pod=~"${scope}-.+",ns="${ns}"' },
    baseline: { scope: 'stable', ns: 'web' },
    canary: { scope: 'canary', ns: 'web' },
    sent: ['avg(cpu{pod=~"stable-.+",ns="web"}) by (zone)', 'avg(cpu{pod=~"canary-.+",ns="web"}) by (zone)'],
  },
  {
    title: 'Datadog by its metric',
    query: { type: 'datadog', metricName: 'avg:trace.http.duration' },
    baseline: { scope: 'version:v1,env:prod' },
    canary: { scope: 'version:v2,env:prod' },
    sent: ['avg:trace.http.duration{version:v1,env:prod}', 'avg:trace.http.duration{version:v2,env:prod}'],
  },
  {
    title: 'Datadog by a whole query',
    query: {
      ...{ type: 'datadog', metricName: 'unused' },
      customInlineTemplate: 'sum:errors{service:web,version:${scope}}.as_count()',
    },
    baseline: { scope: 'v1' },
    canary: { scope: 'v2' },
    sent: ['sum:errors{service:web,version:v1}.as_count()', 'sum:errors{service:web,version:v2}.as_count()'],
  },
  {
    title: 'Graphite by a path with its variables',
    query: { type: 'graphite', metricName: 'stats.$location.$scope.p99' },
    baseline: { scope: 'v1', location: 'eu' },
    canary: { scope: 'v2', location: 'eu' },
    sent: ['stats.eu.v1.p99', 'stats.eu.v2.p99'],
  },
  {
    title: 'New Relic by select, with the key of the scope',
    query: NEW_RELIC,
    baseline: { scope: 'Shop v1', _scope_key: 'appName' },
    canary: { scope: 'Shop v2', _scope_key: 'appName' },
    sent: [
      `SELECT count(*) FROM Transaction WHERE \`appName\` LIKE 'Shop v1' ${NRQL_WINDOW}`,
      `SELECT count(*) FROM Transaction WHERE \`appName\` LIKE 'Shop v2' ${NRQL_WINDOW}`,
    ],
  },
  {
    title: 'New Relic by select and q, with location and parameters',
    query: { ...NEW_RELIC, select: 'count(*) FROM Transaction', q: "httpResponseCode LIKE '5%'" },
    baseline: {
      scope: 'a',
      location: 'eu',
      env: 'prod',
      _scope_key: 'asg',
      _location_key: 'region',
      _x: '1',
    },
    canary: { scope: 'b', location: 'eu', env: 'prod', _scope_key: 'asg', _location_key: 'region', _x: '1' },
    sent: [
      `SELECT count(*) FROM Transaction WHERE httpResponseCode LIKE '5%' AND \`env\` LIKE 'prod' AND \`asg\` LIKE 'a' AND \`region\` LIKE 'eu' ${NRQL_WINDOW}`,
      `SELECT count(*) FROM Transaction WHERE httpResponseCode LIKE '5%' AND \`env\` LIKE 'prod' AND \`asg\` LIKE 'b' AND \`region\` LIKE 'eu' ${NRQL_WINDOW}`,
    ],
  },
  {
    title: 'New Relic by a template with a window of its own',
    query: {
      type: 'newrelic',
      customInlineTemplate:
        "SELECT count(*) FROM Transaction TIMESERIES 60 seconds SINCE ${startEpochSeconds} UNTIL ${endEpochSeconds} WHERE appName LIKE '${scope}'",
    },
    baseline: { scope: 'a' },
    canary: { scope: 'b' },
    sent: [
      `SELECT count(*) FROM Transaction WHERE appName LIKE 'a' ${NRQL_WINDOW}`,
      `SELECT count(*) FROM Transaction WHERE appName LIKE 'b' ${NRQL_WINDOW}`,
    ],
  },
  {
    title: 'Atlas by the type of its scope',
    query: { type: 'atlas', q: 'name,cpu,:eq,:avg' },
    baseline: { scope: 'shop-v1', type: 'asg' },
    canary: { scope: 'shop-v2', type: 'asg' },
    sent: [
      'name,cpu,:eq,:avg,:list,(,nf.asg,shop-v1,:eq,:cq,),:each',
      'name,cpu,:eq,:avg,:list,(,nf.asg,shop-v2,:eq,:cq,),:each',
    ],
  },
  {
    title: 'Atlas by a query as its scope',
    query: { type: 'atlas', q: 'name,cpu,:eq,:avg' },
    baseline: { scope: 'nf.app,shop,:eq,nf.stack,v1,:eq,:and', type: 'query' },
    canary: { scope: 'nf.app,shop,:eq,nf.stack,v2,:eq,:and', type: 'query' },
    sent: [
      'name,cpu,:eq,:avg,:list,(,nf.app,shop,:eq,nf.stack,v1,:eq,:and,:cq,),:each',
      'name,cpu,:eq,:avg,:list,(,nf.app,shop,:eq,nf.stack,v2,:eq,:and,:cq,),:each',
    ],
  },
  {
    title: 'SignalFx by pairs',
    query: {
      ...{ type: 'signalfx', metricName: 'request.count', aggregationMethod: 'sum' },
      queryPairs: [{ key: 'uri', value: '/v1/"some"' }],
    },
    baseline: { scope: '1.0', location: 'eu', env: 'prod', _scope_key: 'version', _location_key: 'region' },
    canary: { scope: '1.1', location: 'eu', env: 'prod', _scope_key: 'version', _location_key: 'region' },
    sent: [
      'sf_metric:"request.count" AND uri:"/v1/\\"some\\"" AND env:"prod" AND version:"1.0" AND region:"eu"',
      'sf_metric:"request.count" AND uri:"/v1/\\"some\\"" AND env:"prod" AND version:"1.1" AND region:"eu"',
    ],
  },
  {
    title: 'Wavefront by conditions',
    query: { type: 'wavefront', metricName: 'latency', aggregate: 'avg', summarization: 'MEAN' },
    baseline: { scope: 'app=shop and version="v1"' },
    canary: { scope: 'app=shop and version="v2"' },
    sent: ['avg(ts(latency, app=shop and version="v1"))', 'avg(ts(latency, app=shop and version="v2"))'],
  },
  {
    title: 'InfluxDB by a measurement and a field',
    query: {
      type: 'influxdb',
      metricName: 'cpu',
      fields: ['count'],
      tags: { dc: "o'b" },
      groupByFields: ['zone'],
    },
    baseline: { scope: 'cluster:shop-v1' },
    canary: { scope: 'cluster:shop-v2' },
    sent: ['1', '2'].map(
      (n) =>
        `SELECT count FROM cpu WHERE ${INFLUX_WINDOW} AND "cluster"='shop-v${n}' AND "dc"='o\\'b' GROUP BY zone`,
    ) as [string, string],
  },
  {
    title: 'InfluxDB by a template',
    query: {
      type: 'influxdb',
      customInlineTemplate:
        "SELECT sum(count) FROM cpu WHERE host = 'x' AND ${scope} AND ${timeFilter} GROUP BY time(${step})",
    },
    baseline: { scope: 'cluster:v1' },
    canary: { scope: 'cluster:v2' },
    sent: ['v1', 'v2'].map(
      (value) =>
        `SELECT sum(count) FROM cpu WHERE host = 'x' AND "cluster"='${value}' AND ${INFLUX_WINDOW} GROUP BY time(60000ms)`,
    ) as [string, string],
  },
  {
    title: 'Stackdriver by the parameters of a pod',
    query: { type: 'stackdriver', metricType: 'cpu', resourceType: 'k8s_container' },
    baseline: { cluster_name: 'c', container_name: 'web', 'user_labels.app.kubernetes.io/version': 'v1' },
    canary: { cluster_name: 'c', container_name: 'web', 'user_labels.app.kubernetes.io/version': 'v2' },
    sent: ['v1', 'v2'].map(
      (value) =>
        `metric.type="cpu" AND resource.type="k8s_container" AND resource.labels.cluster_name="c" AND resource.labels.container_name="web" AND metadata.user_labels."app.kubernetes.io/version"="${value}"`,
    ) as [string, string],
  },
]

const opened = new Map<Type, ReturnType<typeof makeServedSources>>()
afterEach(async () => {
  for (const sources of opened.values()) await sources.closeAll()
})

function plan({ query, templates, baseline, canary }: Omit<Config, 'title' | 'sent'>): PlannedMetrics {
  const groups = readCanaryGroups({ metrics: [{ name: 'm', query }], templates })
  const { targets } = makePlan({
    registration: readRegistration({ application: 'shop' }),
    definition: readDefinition({
      metrics: { source: 'main', canaryConfig: {} },
      scopes: { baseline, canary },
    }),
    templates: { metrics: () => groups, logs: () => undefined, thresholds: undefined, queryTypes: [] },
    nowMs: START_MS,
  })
  return targets[0]!.metrics!
}

async function open(type: Type): ReturnType<ReturnType<typeof makeServedSources>['open']> {
  const sources = makeServedSources(type)
  opened.set(type, sources)
  const settings = (origin: string): Readonly<Record<string, unknown>> => ({
    ...SETTINGS[type],
    ...(type === 'stackdriver' && {
      project: 'p',
      serviceAccountFrom: { type: 'metadata-server', url: `${origin}/token` },
    }),
  })
  return await sources.open(
    (_, response) => respondJson(response, 200, { access_token: 't', expires_in: 3600 }),
    settings,
  )
}

describe.each(CONFIGS)('a config of Kayenta for $title', ({ query, templates, baseline, canary, sent }) => {
  test('is asked as Kayenta asks it, each side for its own scope', async () => {
    const planned = plan({ query, templates: templates ?? {}, baseline, canary })
    const { source, server } = await open(query.type)
    for (const side of [planned.baseline, planned.canary]) {
      const [{ query: text, aggregate } = { query: '', aggregate: undefined }] = planned.metrics
      await source.fetchSeries({ query: text, aggregate, scope: side.scope })
    }
    const asked = server.seen.filter(({ url }) => !url.startsWith('/token')).map(SENT[query.type])
    expect(asked).toEqual(sent)
  })
})

test.each<[string, Config['query'], object, string]>([
  [
    'New Relic',
    NEW_RELIC,
    {},
    'name an attribute in the scopes that distinguishes them, as _scope_key next to scope',
  ],
  ['SignalFx', { type: 'signalfx', metricName: 'm' }, {}, 'as _scope_key next to scope'],
  ['Atlas', { type: 'atlas', q: 'name,cpu,:eq' }, {}, 'set type in both scopes (asg, cluster or query)'],
  [
    'Atlas',
    { type: 'atlas', q: 'name,cpu,:eq' },
    { type: 'toString' },
    'set type in both scopes (asg, cluster or query)',
  ],
  [
    'Stackdriver',
    { type: 'stackdriver', metricType: 'm', resourceType: 'k8s_pod' },
    {},
    'name labels in the scopes that distinguish them (pod_name',
  ],
])('a query of %s that nothing of the scope filters is refused: %j', (_, query, more, reason) => {
  const scope = { scope: 'v1', ...more } as Readonly<Record<string, string>>
  const make = (): unknown => plan({ query, templates: {}, baseline: scope, canary: scope })
  expect(make).toThrow(`metric m: the query is the same for all instances: `)
  expect(make).toThrow(reason)
})

test.each<[Config['query'], string]>([
  [
    { type: 'signalfx', customInlineTemplate: "data('m', filter=filter('v', '${scope}')).mean().publish()" },
    'has a program in SignalFlow, which is not run',
  ],
  [
    { type: 'signalfx', metricName: 'm', aggregationMethod: 'median' },
    'has the aggregationMethod median: series are joined by mean, sum, min, max',
  ],
  [{ type: 'wavefront', metricName: 'm', summarization: 'SUM' }, 'has the summarization SUM'],
  [{ type: 'influxdb', metricName: 'm', fields: ['a', 'b'] }, 'names 2 fields: name the one to judge'],
  [{ type: 'influxdb', metricName: 'm' }, 'names 0 fields'],
])('the query %j is refused by name', (query, reason) => {
  expect(() => plan({ query, templates: {}, baseline: {}, canary: {} })).toThrow(reason)
})

test.each<[Type, string, string]>([
  ['datadog', 'm{${scope}}', 'version:v1} by {host'],
  ['datadog', 'm{${scope}}', 'version:v1,*'],
  ['datadog', 'm{service:${scope}}', 'a:b,env:prod'],
  ['wavefront', 'ts(m, ${scope})', 'app=shop or app=x'],
  ['wavefront', 'ts(m, ${scope})', 'app="a") + ts(m'],
  ['wavefront', 'ts(m, app="${scope}")', 'a" and b="c'],
  ['atlas', 'm,:list,(,${scope},:cq,),:each', 'a,b,:eq,:or,),:each,x,y,:eq'],
  ['atlas', 'm,:eq,${scope},:cq', 'a,b,:eq'],
  ['influxdb', 'SELECT v FROM m WHERE $timeFilter AND ${scope}', 'a OR 1=1:x'],
])('a scope of %s that is more than conditions is refused in %s', async (type, query, scope) => {
  const { source, server } = await open(type)
  const answer = await source.fetchSeries({ query, scope: { scope } })
  expect([answer.state, server.seen]).toEqual(['failed', []])
  expect(answer.reasons[0]).toContain('this place only allows')
})

test('a value of a tag in InfluxDB stays one', async () => {
  const { source, server } = await open('influxdb')
  const query = 'SELECT v FROM m WHERE $timeFilter AND ${scope}'
  await source.fetchSeries({ query, scope: { scope: "cluster:a' OR 'x'='x" } })
  expect(SENT.influxdb(server.seen[0]!)).toContain(`AND "cluster"='a\\' OR \\'x\\'=\\'x'`)
})
