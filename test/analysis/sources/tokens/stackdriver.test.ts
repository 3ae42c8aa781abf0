import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { Respond, SeenRequest } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('stackdriver')
afterEach(closeAll)

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const keyFile = (origin: string, more: object = {}): object => ({
  ...{ type: 'service_account', project_id: 'shop-prod', private_key_id: 'k1', private_key: PEM },
  ...{ client_email: 'tidegate@shop-prod.iam.example', token_uri: `${origin}/token`, ...more },
})
const withAccount =
  (more: object = {}, settings: object = {}) =>
  (origin: string): Readonly<Record<string, unknown>> => ({
    serviceAccount: new Secret(JSON.stringify(keyFile(origin, more))),
    ...settings,
  })

const FILTER = 'metric.type="custom/latency" AND resource.labels.pod="${pod}"'
const ASKED = { query: FILTER, scope: { pod: 'a" OR "x' } }
const at = (minute: number): string => new Date(START_MS + minute * MINUTE_MS).toISOString()

/** Aligned points are at the end of their period, the latest first. */
function series(values: readonly (number | undefined)[], labels: object = {}): object {
  const points = values.flatMap((value, minute) =>
    value === undefined
      ? []
      : [{ interval: { startTime: at(minute + 1), endTime: at(minute + 1) }, value: { doubleValue: value } }],
  )
  return {
    metric: { type: 'custom/latency', labels },
    ...{ resource: { type: 'k8s_pod', labels: {} }, metricKind: 'GAUGE', valueType: 'DOUBLE' },
    points: points.reverse(),
  }
}

function serving(...pages: readonly object[]): Respond {
  let page = 0
  return ({ url }, response) => {
    if (url.startsWith('/token')) {
      respondJson(response, 200, { access_token: 'ya29.token', expires_in: 3599, token_type: 'Bearer' })
      return
    }
    respondJson(response, 200, pages[page] ?? {})
    page += 1
  }
}

const searchOf = ({ url }: SeenRequest): URLSearchParams => new URL(url, 'http://host').searchParams

describe('time series of Google Cloud Monitoring', () => {
  test('are requested with a token that the service account signs for', async () => {
    const { source, server } = await open(serving({ timeSeries: [series([1, undefined, 3])] }), withAccount())
    const answer = await source.fetchSeries(ASKED)
    expect(answer).toMatchObject({ state: 'complete', reasons: [] })
    expect([...answer.values].slice(0, 4)).toEqual([1, NaN, 3, NaN])
    const [token, asked] = server.seen as [SeenRequest, SeenRequest]
    const form = new URLSearchParams(token.body)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [header = '', claims = '', signature = ''] = form.get('assertion')!.split('.')
    const isSigned = verify(
      ...(['sha256', Buffer.from(`${header}.${claims}`), createPublicKey(privateKey)] as const),
      Buffer.from(signature, 'base64url'),
    )
    expect(isSigned).toBe(true)
    const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(decode(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    expect(decode(claims)).toEqual({
      ...{ iss: 'tidegate@shop-prod.iam.example', aud: `${server.origin}/token` },
      scope: 'https://www.googleapis.com/auth/monitoring.read',
      ...{ iat: START_MS / 1000, exp: START_MS / 1000 + 3600 },
    })
    expect(asked.headers['authorization']).toBe('Bearer ya29.token')
    expect(new URL(asked.url, 'http://host').pathname).toBe('/v3/projects/shop-prod/timeSeries')
    expect(Object.fromEntries(searchOf(asked))).toEqual({
      filter: 'metric.type="custom/latency" AND resource.labels.pod="a\\" OR \\"x"',
      ...{ 'interval.startTime': at(0), 'interval.endTime': at(10), view: 'FULL', pageSize: '10000' },
      ...{ 'aggregation.alignmentPeriod': '60s', 'aggregation.perSeriesAligner': 'ALIGN_MEAN' },
      'aggregation.crossSeriesReducer': 'REDUCE_MEAN',
    })
  })

  const byMachine = (origin: string): Readonly<Record<string, unknown>> => ({
    project: 'shop-prod',
    serviceAccountFrom: { type: 'metadata-server', url: origin, account: 'default' },
  })
  const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'

  test('are requested with the token that a machine is given, for reading alone', async () => {
    const { source, server } = await open(({ url, headers }, response) => {
      if (!url.startsWith(TOKEN_PATH)) respondJson(response, 200, { timeSeries: [series([1])] })
      else if (headers['metadata-flavor'] !== 'Google') response.writeHead(403).end()
      else respondJson(response, 200, { access_token: 'ya29.m', expires_in: 3599, token_type: 'Bearer' })
    }, byMachine)
    await source.fetchSeries(ASKED)
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'complete', reasons: [] })
    const [token, ...asked] = server.seen as [SeenRequest, ...SeenRequest[]]
    expect(searchOf(token).get('scopes')).toBe('https://www.googleapis.com/auth/monitoring.read')
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(['Bearer ya29.m', 'Bearer ya29.m'])
    expect(asked[0]!.url).toMatch(/^\/v3\/projects\/shop-prod\/timeSeries\?/)
  })

  test('are not asked for where a machine has no service account, which is said', async () => {
    const { source, server } = await open((_, response) => response.writeHead(404).end(), byMachine)
    const { state, reasons } = await source.fetchSeries(ASKED)
    expect([state, reasons[0]]).toEqual([
      'failed',
      expect.stringContaining('main (its sign-in) answered 404') as string,
    ])
    expect(server.seen).toHaveLength(1)
  })

  test('are aligned and reduced as the query says, page after page, in another project', async () => {
    const ofFiveMinutes = (value: number): object => ({
      ...{ interval: { endTime: at(5) }, value: { doubleValue: value } },
    })
    const { source, server } = await open(
      serving(
        { timeSeries: [{ points: [ofFiveMinutes(1)] }], nextPageToken: 'p2' },
        { timeSeries: [{ points: [ofFiveMinutes(3)] }], nextPageToken: '' },
      ),
      withAccount({}, { project: 'scoping' }),
    )
    const query = JSON.stringify({
      ...{ filter: FILTER, perSeriesAligner: 'ALIGN_PERCENTILE_99', crossSeriesReducer: 'REDUCE_SUM' },
      groupByFields: ['metric.labels.pod', 'resource.labels.zone'],
    })
    const answer = await source.fetchSeries({ ...ASKED, query, aggregate: 'sum', stepMs: 5 * MINUTE_MS })
    expect([...answer.values]).toEqual([4, NaN])
    const asked = server.seen.slice(1)
    expect(asked.map((request) => searchOf(request).get('pageToken'))).toEqual([null, 'p2'])
    expect(asked[0]!.url).toMatch(/^\/v3\/projects\/scoping\/timeSeries\?/)
    expect(searchOf(asked[0]!).getAll('aggregation.groupByFields')).toEqual([
      ...['metric.labels.pod', 'resource.labels.zone'],
    ])
    expect(searchOf(asked[0]!).get('aggregation.alignmentPeriod')).toBe('300s')
  })

  test('may hold whole numbers, truths and distributions', async () => {
    const values = [
      { int64Value: '7' },
      { boolValue: true },
      { distributionValue: { count: '2', mean: 2.5 } },
      {},
    ]
    const points = values.map((value, minute) => ({ interval: { endTime: at(minute + 1) }, value }))
    const { source } = await open(serving({ timeSeries: [{ points }] }), withAccount())
    expect([...(await source.fetchSeries(ASKED)).values].slice(0, 4)).toEqual([7, 1, 2.5, NaN])
  })

  test('of which a part could not be had are incomplete', async () => {
    const { source } = await open(
      serving({ timeSeries: [series([1])], executionErrors: [{ code: 14, message: 'a zone is away' }] }),
      withAccount(),
    )
    expect(await source.fetchSeries(ASKED)).toMatchObject({
      ...{ state: 'incomplete', reasons: ['the server warns: a zone is away'] },
    })
  })

  test.each([
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
      'main (its sign-in) answered 400: invalid_grant: Invalid JWT Signature.',
    ],
    [
      401,
      { error: 'invalid_client' },
      'main (its sign-in) answered 401 (see its credentials): invalid_client',
    ],
  ])('are not asked for where the token is refused with %i', async (status, body, reason) => {
    const { source, server } = await open((_, response) => respondJson(response, status, body), withAccount())
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'failed', reasons: [reason] })
    expect(server.seen).toHaveLength(1)
  })

  test.each([
    ['nonsense', 'serviceAccount is not the key file of a service account'],
    [JSON.stringify({ type: 'authorized_user', private_key: 'hunter2' }), '(see type, client_email'],
    [JSON.stringify(keyFile('http://127.0.0.1:9', { private_key: 'hunter2' })), 'is no RSA key in PEM'],
  ])('are not asked for with a key file that is none', async (file, reason) => {
    const { source, server } = await open(serving(), { serviceAccount: new Secret(file) })
    const answer = await source.fetchSeries(ASKED)
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(JSON.stringify(answer)).not.toContain('hunter2')
    expect(server.seen).toHaveLength(0)
  })

  test('are refused in a sentence', async () => {
    const { source } = await open((request, response, nth) => {
      if (request.url.startsWith('/token')) serving()(request, response, nth)
      else
        respondJson(response, 403, {
          error: {
            code: 403,
            message: 'Permission monitoring.timeSeries.list denied',
            status: 'PERMISSION_DENIED',
          },
        })
    }, withAccount())
    expect((await source.fetchSeries(ASKED)).reasons).toEqual([
      'main answered 403 (see its credentials): PERMISSION_DENIED: Permission monitoring.timeSeries.list denied',
    ])
  })

  test.each([
    ['   ', 'filter'],
    ['{"filter":"x","perSeriesAligner":"ALIGN_NONE"}', 'and not ALIGN_NONE'],
    ['{"filter":"x","crossSeriesReducer":"sum"}', 'must be a reducer'],
    ['{"filter":"resource.labels.pod=${pod}"}', 'put the placeholder between quotes'],
  ])('are not asked for by %s', async (query, reason) => {
    const { source, server } = await open(serving(), withAccount())
    const answer = await source.fetchSeries({ ...ASKED, query })
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(server.seen).toHaveLength(0)
  })

  test('are told to be coarser than steps of half a minute', async () => {
    const { source, server } = await open(serving({ timeSeries: [series([1, 2])] }), withAccount())
    const { warnings } = await source.fetchSeries({ ...ASKED, stepMs: 30_000 })
    expect(searchOf(server.seen[1]!).get('aggregation.alignmentPeriod')).toBe('60s')
    expect(warnings[0]).toContain('set stepSeconds to 60')
  })

  test.each([null, 7, [], { timeSeries: 7 }, { timeSeries: [{ points: [{}] }] }])(
    'are none in %j',
    async (answer) => {
      const { source } = await open(serving(answer as object), withAccount())
      const { values } = await source.fetchSeries(ASKED)
      expect(values.every(Number.isNaN)).toBe(true)
    },
  )
})
