import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { Respond, SeenRequest } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('azure')
afterEach(closeAll)

const SECRET = 'Zx8~hunter2'
const RESOURCE = '/subscriptions/0000-11/resourceGroups/shop/providers/Microsoft.Web/sites/${app}'
const QUERY = JSON.stringify({
  ...{ resource: RESOURCE, metric: 'HttpResponseTime', namespace: 'Microsoft.Web/sites' },
  filter: "Instance eq '${pod}'",
})
const SCOPE = { app: 'shop', pod: "o'brien" }
const ASKED = { query: QUERY, scope: SCOPE }

const clientSecret = (origin: string): Readonly<Record<string, unknown>> => ({
  signIn: {
    ...{ type: 'client-secret', tenantId: 'tenant-1', clientId: 'client-1', loginUrl: `${origin}/login` },
    clientSecret: new Secret(SECRET),
  },
})

const at = (minute: number): string => new Date(START_MS + minute * MINUTE_MS).toISOString()

function metrics(...timeseries: readonly object[]): object {
  return {
    ...{ cost: 1, timespan: `${at(0)}/${at(10)}`, interval: 'PT1M', namespace: 'Microsoft.Web/sites' },
    value: [
      {
        ...{ id: 'x', type: 'Microsoft.Insights/metrics', unit: 'Seconds', timeseries, errorCode: 'Success' },
        name: { value: 'HttpResponseTime', localizedValue: 'Response time' },
      },
    ],
  }
}

const VALUES = metrics({
  metadatavalues: [{ name: { value: 'instance' }, value: 'a' }],
  data: [{ timeStamp: at(0), average: 1 }, { timeStamp: at(1) }, { timeStamp: at(2), average: 3 }],
})

interface Served {
  readonly token?: object
  readonly answer?: unknown
}

/** The login and the metrics on one server, with a new token for every token request. */
function serving({
  token = { token_type: 'Bearer', expires_in: 3599 },
  answer = VALUES,
}: Served = {}): Respond {
  let given = 0
  return ({ url }, response) => {
    const isToken = url.startsWith('/login') || url.startsWith('/identity')
    if (isToken) respondJson(response, 200, { access_token: `at-${(given += 1)}`, ...token })
    else respondJson(response, 200, answer)
  }
}

const searchOf = ({ url }: SeenRequest): object => {
  const { pathname, searchParams } = new URL(url, 'http://host')
  return { pathname, ...Object.fromEntries(searchParams) }
}

describe('metrics of Azure Monitor', () => {
  test('are requested with a token of the client, and put onto the steps', async () => {
    const { source, server } = await open(serving(), clientSecret)
    const answer = await source.fetchSeries(ASKED)
    expect(answer).toMatchObject({ state: 'complete', reasons: [] })
    expect([...answer.values]).toEqual([1, NaN, 3, NaN, NaN, NaN, NaN, NaN, NaN, NaN])
    const [login, asked] = server.seen as [SeenRequest, SeenRequest]
    expect(login.url).toBe('/login/tenant-1/oauth2/v2.0/token')
    expect(Object.fromEntries(new URLSearchParams(login.body))).toEqual({
      ...{ grant_type: 'client_credentials', client_id: 'client-1', client_secret: SECRET },
      scope: `${server.origin}/.default`,
    })
    expect(asked.headers['authorization']).toBe('Bearer at-1')
    expect(searchOf(asked)).toEqual({
      pathname: `${RESOURCE.replace('${app}', 'shop')}/providers/Microsoft.Insights/metrics`,
      ...{ 'api-version': '2019-07-01', metricnames: 'HttpResponseTime', aggregation: 'Average' },
      ...{ interval: 'PT1M', timespan: `${at(0)}/${at(10)}`, metricnamespace: 'Microsoft.Web/sites' },
      ...{ $filter: "Instance eq 'o''brien'", top: '1000' },
    })
  })

  test('share a token until it is about to end', async () => {
    const { source, server } = await open(serving(), clientSecret)
    await Promise.all([source.fetchSeries(ASKED), source.fetchSeries(ASKED)])
    await source.fetchSeries(ASKED)
    expect(server.seen.filter(({ url }) => url.startsWith('/login'))).toHaveLength(1)
    const { source: short, server: other } = await open(
      serving({ token: { expires_in: '60' } }),
      clientSecret,
    )
    await short.fetchSeries(ASKED)
    await short.fetchSeries(ASKED)
    expect(other.seen.map(({ headers }) => headers['authorization'])).toEqual([
      ...[undefined, 'Bearer at-1', undefined, 'Bearer at-2'],
    ])
  })

  test('are requested with a managed identity', async () => {
    const { source, server } = await open(serving(), (origin) => ({
      signIn: {
        ...{ type: 'managed-identity', url: `${origin}/identity`, clientId: 'me' },
        ...{ header: new Secret('id-header'), audience: 'https://management.azure.example' },
      },
    }))
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'complete' })
    const [identity] = server.seen as [SeenRequest]
    expect(searchOf(identity)).toEqual({
      ...{ pathname: '/identity', 'api-version': '2019-08-01', client_id: 'me' },
      resource: 'https://management.azure.example/',
    })
    expect(identity.headers).toMatchObject({ metadata: 'true', 'x-identity-header': 'id-header' })
  })

  test('are requested with the identity of a virtual machine, which has no header', async () => {
    const { source, server } = await open(serving(), (origin) => ({
      signIn: {
        ...{ type: 'managed-identity', url: `${origin}/identity/metadata/identity/oauth2/token` },
        audience: 'https://management.azure.example',
      },
    }))
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'complete' })
    const [identity, asked] = server.seen as [SeenRequest, SeenRequest]
    expect(searchOf(identity)).toEqual({
      ...{ pathname: '/identity/metadata/identity/oauth2/token', 'api-version': '2018-02-01' },
      resource: 'https://management.azure.example/',
    })
    expect(identity.headers).toMatchObject({ metadata: 'true' })
    expect(identity.headers).not.toHaveProperty('x-identity-header')
    expect(asked.headers['authorization']).toBe('Bearer at-1')
  })

  test('are requested with the token of a service account', async () => {
    const { source, server } = await open(serving(), (origin) => ({
      signIn: {
        ...{
          type: 'workload-identity',
          tenantId: 'tenant-1',
          clientId: 'client-1',
          loginUrl: `${origin}/login`,
        },
        token: new Secret('token-of-the-service-account\n'),
      },
    }))
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'complete' })
    const [login] = server.seen as [SeenRequest]
    expect(login.url).toBe('/login/tenant-1/oauth2/v2.0/token')
    expect(Object.fromEntries(new URLSearchParams(login.body))).toEqual({
      ...{ grant_type: 'client_credentials', client_id: 'client-1', scope: `${server.origin}/.default` },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'token-of-the-service-account',
    })
  })

  test.each([
    [
      'of a wrong secret',
      401,
      { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret' },
      'main (its sign-in) answered 401 (see its credentials): invalid_client: AADSTS7000215: Invalid client secret',
    ],
    [
      'of an unknown tenant',
      400,
      { error: 'invalid_request', error_description: 'AADSTS90002: Tenant not found' },
      'main (its sign-in) answered 400: invalid_request: AADSTS90002: Tenant not found',
    ],
    [
      'without a token',
      200,
      { token_type: 'Bearer' },
      'main (its sign-in): the answer holds no access_token',
    ],
  ])('are not asked for after an answer %s', async (_name, status, body, reason) => {
    const { source, server } = await open(
      (_request, response) => respondJson(response, status, body),
      clientSecret,
    )
    const answer = await source.fetchSeries(ASKED)
    expect(answer).toMatchObject({ state: 'failed', reasons: [reason] })
    expect(server.seen).toHaveLength(1)
    expect(JSON.stringify(answer)).not.toContain(SECRET)
  })

  test.each([
    [
      403,
      { error: { code: 'AuthorizationFailed', message: 'The client has no access' } },
      'main answered 403 (see its credentials): AuthorizationFailed: The client has no access',
    ],
    [
      400,
      { code: 'BadRequest', message: 'Failed to find metric configuration' },
      'main answered 400: Failed to find metric configuration',
    ],
    [
      404,
      { error: { code: 'ResourceNotFound', message: 'not found' } },
      'main answered 404: ResourceNotFound: not found',
    ],
  ])('are refused with %i in a sentence', async (status, body, reason) => {
    const { source } = await open((request, response, nth) => {
      if (request.url.startsWith('/login')) serving()(request, response, nth)
      else respondJson(response, status, body)
    }, clientSecret)
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'failed', reasons: [reason] })
  })

  test('have the longest interval that fits into a step', async () => {
    const { source, server } = await open(serving(), clientSecret)
    for (const minutes of [0.5, 1, 5, 10, 60])
      await source.fetchSeries({ ...ASKED, stepMs: minutes * MINUTE_MS })
    const asked = server.seen.filter(({ method }) => method === 'GET')
    expect(asked.map((request) => (searchOf(request) as { interval: string }).interval)).toEqual([
      ...['PT1M', 'PT1M', 'PT5M', 'PT5M', 'PT1H'],
    ])
  })

  test('of several series that nothing joins are refused', async () => {
    const one = (name: string): object => ({
      metadatavalues: [{ name: { value: 'instance' }, value: name }],
      data: [{ timeStamp: at(0), average: 1 }],
    })
    const { source } = await open(serving({ answer: metrics(one('a'), one('b')) }), clientSecret)
    expect((await source.fetchSeries(ASKED)).reasons[0]).toMatch(/^the query gives 2 series \(.*instance=a/)
  })

  test.each([
    ['up', 'the query must be {"resource": "/subscriptions/…", "metric": …}'],
    ['{"metric":"x"}', 'the query is no metric of Azure: resource'],
    ['{"resource":"/etc","metric":"x"}', 'must be the id of a resource: /subscriptions/…'],
    [JSON.stringify({ resource: RESOURCE, metric: 'x', aggregation: 'p99' }), 'aggregation'],
    [
      JSON.stringify({ resource: RESOURCE, metric: 'x', filter: "Instance eq '${star}'" }),
      'text other than "*"',
    ],
    [JSON.stringify({ resource: '/subscriptions/${dots}', metric: 'x' }), 'text that is not "." or ".."'],
  ])('are not asked for by %s', async (query, reason) => {
    const { source, server } = await open(serving(), clientSecret)
    const answer = await source.fetchSeries({ query, scope: { ...SCOPE, star: '*', dots: '..' } })
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(server.seen).toHaveLength(0)
  })

  test.each([null, 7, [], {}, { value: [{}] }, { value: [{ timeseries: [{ data: [{}] }] }] }])(
    'are none in %j',
    async (answer) => {
      const { source } = await open(serving({ answer }), clientSecret)
      expect(['failed', 'empty']).toContain((await source.fetchSeries(ASKED)).state)
    },
  )

  test('are empty where the resource has none', async () => {
    const { source } = await open(serving({ answer: metrics() }), clientSecret)
    expect(await source.fetchSeries(ASKED)).toMatchObject({ state: 'empty', reasons: [] })
  })
})
