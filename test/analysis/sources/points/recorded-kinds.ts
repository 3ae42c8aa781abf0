import { Secret } from '../../../../src/lib/outbound/credentials.js'
import type { SourceSettings } from '../../../../src/analysis/sources/answers/source-settings.js'
import type { SeenRequest } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS } from '../../../support/open-source.js'

const START_S = START_MS / 1000
const END_S = START_S + 600
const at = (minute: number): number => START_S + minute * 60
const atMs = (minute: number): number => START_MS + minute * MINUTE_MS

/** A kind of source, a query, and its server's answer (from the documentation of each API). */
export interface Kind {
  readonly type: SourceSettings['type']
  readonly settings?: Readonly<Record<string, unknown>>
  readonly query: string
  /** Three values: 1 in the first minute, a gap in the second, 3 in the third. */
  readonly answer: unknown
  /** Two series. */
  readonly several: unknown
  /** An answer that refuses the query, and the resulting message. */
  readonly refusal?: readonly [answer: unknown, reason: string]
  /** The parts of the request that a test checks. */
  readonly sent: (request: SeenRequest) => unknown
  readonly expected: unknown
}

/** The path and the parameters of a request. */
export const searched = ({ url }: SeenRequest): unknown => {
  const { pathname, searchParams } = new URL(url, 'http://host')
  return { pathname, ...Object.fromEntries(searchParams) }
}

export const KINDS: readonly Kind[] = [
  {
    type: 'graphite',
    query: 'stats.${app}.latency',
    answer: [
      {
        target: 'stats.shop.latency',
        datapoints: [
          [1, at(0)],
          [null, at(1)],
          [3.0, at(2)],
        ],
      },
    ],
    several: [
      { target: 'a', datapoints: [[1, at(0)]] },
      { target: 'b', datapoints: [[1, at(0)]] },
    ],
    sent: searched,
    expected: {
      ...{ pathname: '/render', target: 'stats.shop.latency', format: 'json' },
      ...{ from: String(START_S - 1), until: String(END_S - 1) },
    },
  },
  {
    type: 'datadog',
    settings: {
      credentials: {
        type: 'headers',
        headers: [
          { name: 'DD-API-KEY', value: new Secret('key') },
          { name: 'DD-APPLICATION-KEY', value: new Secret('application') },
        ],
      },
    },
    query: 'avg:trace.http.duration{service:${app}}.rollup(avg, 60)',
    answer: {
      status: 'ok',
      series: [
        {
          ...{ metric: 'trace.http.duration', scope: 'service:shop', interval: 60 },
          pointlist: [
            [atMs(0), 1],
            [atMs(1), null],
            [atMs(2), 3],
          ],
        },
      ],
    },
    several: {
      status: 'ok',
      series: [
        { metric: 'm', scope: 'host:a', pointlist: [[atMs(0), 1]] },
        { metric: 'm', scope: 'host:b', pointlist: [[atMs(0), 1]] },
      ],
    },
    refusal: [
      { status: 'error', error: 'Error parsing query: unable to parse' },
      'main: the query was refused: Error parsing query: unable to parse',
    ],
    sent: ({ headers, ...request }) => ({
      ...(searched({ headers, ...request }) as object),
      keys: [headers['dd-api-key'], headers['dd-application-key']],
    }),
    expected: {
      pathname: '/api/v1/query',
      query: 'avg:trace.http.duration{service:shop}.rollup(avg, 60)',
      ...{ from: String(START_S), to: String(END_S - 1) },
      keys: ['key', 'application'],
    },
  },
  {
    type: 'influxdb',
    settings: { database: 'web', retentionPolicy: 'month' },
    query: `SELECT mean("value") FROM "latency" WHERE "app" = '\${app}' AND $timeFilter GROUP BY time($__interval)`,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [
            {
              ...{ name: 'latency', columns: ['time', 'mean'] },
              values: [
                [atMs(0), 1],
                [atMs(1), null],
                [atMs(2), 3],
              ],
            },
          ],
        },
      ],
    },
    several: {
      results: [
        {
          series: ['a', 'b'].map((host) => ({
            ...{ name: 'latency', tags: { host }, columns: ['time', 'mean'], values: [[atMs(0), 1]] },
          })),
        },
      ],
    },
    refusal: [
      { results: [{ statement_id: 0, error: 'database not found: web' }] },
      'main: the query was refused: database not found: web',
    ],
    sent: searched,
    expected: {
      ...{ pathname: '/query', db: 'web', rp: 'month', epoch: 'ms' },
      q: `SELECT mean("value") FROM "latency" WHERE "app" = 'shop' AND (time >= ${START_MS}ms AND time < ${END_S * 1000}ms) GROUP BY time(60000ms)`,
    },
  },
  {
    type: 'newrelic',
    settings: { account: 42 },
    query: "SELECT percentile(duration, 99) FROM Transaction WHERE appName = '${app}'",
    answer: {
      data: {
        actor: {
          account: {
            nrql: {
              results: [1, null, 3].map((value, minute) => ({
                ...{ beginTimeSeconds: at(minute), endTimeSeconds: at(minute + 1) },
                'percentile.duration': { '99': value },
              })),
            },
          },
        },
      },
    },
    several: {
      data: {
        actor: {
          account: {
            nrql: { results: ['a', 'b'].map((facet) => ({ beginTimeSeconds: at(0), facet, count: 1 })) },
          },
        },
      },
    },
    refusal: [
      { data: { actor: { account: { nrql: null } } }, errors: [{ message: 'NRQL Syntax Error' }] },
      'main: the query was refused: NRQL Syntax Error',
    ],
    sent: ({ url, method, body }) => ({
      ...{ url, method },
      variables: (JSON.parse(body) as { variables: unknown }).variables,
    }),
    expected: {
      ...{ url: '/graphql', method: 'POST' },
      variables: {
        account: 42,
        nrql: `SELECT percentile(duration, 99) FROM Transaction WHERE appName = 'shop' TIMESERIES 60 SECONDS SINCE ${START_MS} UNTIL ${END_S * 1000}`,
      },
    },
  },
  {
    type: 'wavefront',
    query: 'avg(ts("latency", app="${app}"))',
    answer: {
      timeseries: [
        {
          ...{ label: 'latency', host: 'web-1', tags: { app: 'shop' } },
          data: [
            [at(0), 1],
            [at(2), 3],
          ],
        },
      ],
    },
    several: { timeseries: ['a', 'b'].map((host) => ({ label: 'm', host, data: [[at(0), 1]] })) },
    refusal: [
      { errorType: 'QuerySyntaxException', errorMessage: 'unexpected end' },
      'main: the query was refused: QuerySyntaxException: unexpected end',
    ],
    sent: searched,
    expected: {
      ...{ pathname: '/api/v2/chart/api', q: 'avg(ts("latency", app="shop"))', g: 'm' },
      ...{ strict: 'true', sorted: 'true', autoEvents: 'false' },
      ...{ s: String(START_MS), e: String(END_S * 1000 - 1) },
    },
  },
  {
    type: 'atlas',
    query: 'name,latency,:eq,nf.app,${app},:eq,:and,:avg',
    answer: {
      ...{ start: START_MS, step: MINUTE_MS, legend: ['latency'], metrics: [{}] },
      ...{ values: [[1], ['NaN'], [3]], notices: [] },
    },
    several: { start: START_MS, step: MINUTE_MS, legend: ['a', 'b'], values: [[1, 2]] },
    refusal: [
      { type: 'IllegalStateException', message: "unknown word ':nope'" },
      "main: the query was refused: unknown word ':nope'",
    ],
    sent: searched,
    expected: {
      ...{ pathname: '/api/v1/graph', q: 'name,latency,:eq,nf.app,shop,:eq,:and,:avg', format: 'std.json' },
      ...{ s: String(START_MS), e: String(END_S * 1000), step: '60s' },
    },
  },
  {
    type: 'signalfx',
    query: 'sf_metric:latency AND app:${app}',
    answer: {
      data: {
        AAAA: [
          [atMs(0), 1],
          [atMs(2), 3],
        ],
      },
      errors: [],
    },
    several: { data: { AAAA: [[atMs(0), 1]], BBBB: [[atMs(0), 1]] }, errors: [] },
    sent: searched,
    expected: {
      ...{ pathname: '/v1/timeserieswindow', query: 'sf_metric:latency AND app:shop', resolution: '60000' },
      ...{ startMS: String(START_MS), endMS: String(END_S * 1000 - 1) },
    },
  },
  {
    type: 'cloudwatch',
    settings: {
      ...{ region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE' },
      secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
    },
    query: JSON.stringify({
      ...{ namespace: 'AWS/ApplicationELB', metricName: 'TargetResponseTime', stat: 'p99' },
      dimensions: { LoadBalancer: 'app/${app}' },
    }),
    answer: {
      MetricDataResults: [
        { Id: 'q', Label: 'p99', StatusCode: 'Complete', Timestamps: [at(0), at(2)], Values: [1, 3] },
      ],
    },
    several: {
      MetricDataResults: ['a', 'b'].map((Label) => ({ Label, Timestamps: [at(0)], Values: [1] })),
    },
    refusal: [
      {
        Messages: [{ Code: 'ArithmeticError', Value: 'division' }],
        MetricDataResults: [{ Id: 'q', StatusCode: 'InternalError', Timestamps: [], Values: [] }],
      },
      'main: the query ended with InternalError: ArithmeticError: division',
    ],
    sent: ({ method, headers, body }) => ({
      ...{ method, target: headers['x-amz-target'], type: headers['content-type'] },
      signed:
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261121\/eu-central-1\/monitoring\/aws4_request,SignedHeaders=[a-z0-9;-]*x-amz-target,Signature=[0-9a-f]{64}$/.test(
          String(headers['authorization']),
        ),
      body: JSON.parse(body) as unknown,
    }),
    expected: {
      ...{ method: 'POST', target: 'GraniteServiceVersion20100801.GetMetricData', signed: true },
      type: 'application/x-amz-json-1.0',
      body: {
        ...{ StartTime: START_S, EndTime: END_S, ScanBy: 'TimestampAscending' },
        MetricDataQueries: [
          {
            ...{ Id: 'q', ReturnData: true },
            MetricStat: {
              Metric: {
                ...{ Namespace: 'AWS/ApplicationELB', MetricName: 'TargetResponseTime' },
                Dimensions: [{ Name: 'LoadBalancer', Value: 'app/shop' }],
              },
              ...{ Period: 60, Stat: 'p99' },
            },
          },
        ],
      },
    },
  },
  {
    type: 'web',
    query: '/stats/${app}?from=$startSeconds&to=$endSeconds#data.points:p99',
    answer: {
      data: {
        points: [
          { time: at(0), p99: 1 },
          { time: at(1), p99: null },
          { time: at(2), p99: 3 },
        ],
      },
    },
    several: undefined,
    refusal: [{ data: {} }, 'main: the answer has no data.points'],
    sent: searched,
    expected: { pathname: '/stats/shop', from: String(START_S), to: String(END_S) },
  },
]
