import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { LoopbackServer, Respond, SeenRequest } from '../../../support/loopback-server.js'
import { MINUTE_MS, START_MS, makeServedSources } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('cloudwatch')
afterEach(closeAll)

const ASKED = { query: '{"namespace":"Shop","metricName":"Latency"}' }
const SESSION = 'imds-session'
const TOKEN = 'token-of-the-service-account'
const ROLE_ARN = 'arn:aws:iam::123456789012:role/shop'
const VALUES = {
  MetricDataResults: [
    { Id: 'q', Label: 'Latency', StatusCode: 'Complete', Timestamps: [START_MS / 1000], Values: [1] },
  ],
}

/** The expiry of the returned keys, in minutes of the test's clock. */
const keys = (nth: number, minutes: number): object => ({
  ...{ AccessKeyId: `ASIA${nth}`, SecretAccessKey: 'hunter2-secret', Token: `session-${nth}` },
  Expiration: new Date(START_MS + minutes * MINUTE_MS).toISOString(),
})

/**
 * An instance, a container agent, a token service and the metrics on one server, as in their
 * documentation.
 */
function serving(minutes = 360): Respond {
  let given = 0
  return ({ method, url, headers, body }, response) => {
    if (method === 'PUT' && url === '/imds/latest/api/token') response.end(SESSION)
    else if (url.startsWith('/imds/')) {
      if (headers['x-aws-ec2-metadata-token'] !== SESSION) response.writeHead(401).end()
      else if (url.endsWith('/security-credentials/')) response.end('shop-role\n')
      else {
        respondJson(response, 200, {
          ...{ Code: 'Success', Type: 'AWS-HMAC', LastUpdated: '2026-11-21T05:00:00Z' },
          ...keys((given += 1), minutes),
        })
      }
    } else if (url.startsWith('/container')) respondJson(response, 200, keys((given += 1), minutes))
    else if (url === '/sts/') {
      expect(new URLSearchParams(body).get('WebIdentityToken')).toBe(TOKEN)
      const { Token: token, ...rest } = keys((given += 1), minutes) as { Token: string }
      const Credentials = { ...rest, SessionToken: token, Expiration: START_MS / 1000 + minutes * 60 }
      const result = { AssumeRoleWithWebIdentityResult: { Credentials, Audience: 'sts.amazonaws.com' } }
      respondJson(response, 200, { AssumeRoleWithWebIdentityResponse: result })
    } else respondJson(response, 200, VALUES)
  }
}

const instance = (origin: string, more: object = {}): Readonly<Record<string, unknown>> => ({
  ...{ region: 'eu-central-1', accessKeyFrom: { type: 'instance-role', url: `${origin}/imds`, ...more } },
})
const container = (origin: string): Readonly<Record<string, unknown>> => ({
  region: 'eu-central-1',
  accessKeyFrom: {
    type: 'container-role',
    url: `${origin}/container/v2?id=1`,
    token: new Secret('agent-token\n'),
  },
})
const service = (origin: string): Readonly<Record<string, unknown>> => ({
  region: 'eu-central-1',
  accessKeyFrom: {
    ...{ type: 'web-identity', url: `${origin}/sts`, roleArn: ROLE_ARN, sessionName: 'tidegate' },
    token: new Secret(`${TOKEN}\n`),
  },
})

const asked = ({ seen }: LoopbackServer): readonly string[] =>
  seen.map(({ method, url }) => `${method} ${url}`)
const metricsOf = ({ seen }: LoopbackServer): readonly SeenRequest[] =>
  seen.filter(({ headers }) => headers['x-amz-target'] !== undefined)

describe('an access key that a platform gives', () => {
  test.each([
    [
      'an instance',
      instance,
      [
        'PUT /imds/latest/api/token',
        'GET /imds/latest/meta-data/iam/security-credentials/',
        'GET /imds/latest/meta-data/iam/security-credentials/shop-role',
      ],
    ],
    [
      'an instance with a role that is named',
      (origin: string) => instance(origin, { role: 'other' }),
      ['PUT /imds/latest/api/token', 'GET /imds/latest/meta-data/iam/security-credentials/other'],
    ],
    ['a container', container, ['GET /container/v2?id=1']],
    ['a service account', service, ['POST /sts/']],
  ])('to %s signs the requests, and goes along as a session', async (_name, settings, signIn) => {
    const { source, server } = await open(serving(), settings)
    const answer = await source.fetchSeries(ASKED)
    expect(answer).toMatchObject({ state: 'complete', reasons: [] })
    expect(asked(server).slice(0, -1)).toEqual(signIn)
    expect(server.seen.at(-1)?.headers).toMatchObject({
      'x-amz-security-token': 'session-1',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=ASIA1\/20261121\/eu-central-1\/monitoring\/aws4_request,/,
      ) as string,
    })
    expect(JSON.stringify(answer)).not.toContain('hunter2')
  })

  test('of a container is requested with its token, that of a service account with the role, as JSON', async () => {
    const { source: first, server: agent } = await open(serving(), container)
    await first.fetchSeries(ASKED)
    expect(agent.seen[0]?.headers['authorization']).toBe('agent-token')
    const { source: second, server: sts } = await open(serving(), service)
    await second.fetchSeries(ASKED)
    expect(sts.seen[0]?.headers['accept']).toBe('application/json')
    expect(Object.fromEntries(new URLSearchParams(sts.seen[0]?.body))).toEqual({
      ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleArn: ROLE_ARN },
      ...{ RoleSessionName: 'tidegate', WebIdentityToken: TOKEN },
    })
  })

  test('is shared until it is about to end, and requested again then', async () => {
    const { source, server } = await open(serving(), container)
    await Promise.all([source.fetchSeries(ASKED), source.fetchSeries(ASKED)])
    await source.fetchSeries(ASKED)
    expect(asked(server).filter((request) => request.includes('container'))).toHaveLength(1)
    const { source: short, server: other } = await open(serving(1), container)
    await short.fetchSeries(ASKED)
    await short.fetchSeries(ASKED)
    expect(metricsOf(other).map(({ headers }) => headers['x-amz-security-token'])).toEqual([
      ...['session-1', 'session-2'],
    ])
  })

  const unlike: readonly [string, typeof container, Respond, string][] = [
    [
      'an instance without a role',
      instance,
      ({ method }, response) =>
        method === 'PUT' ? response.end(SESSION) : response.writeHead(404).end('<html><title>404</title>'),
      'main (its sign-in): the instance has no role: attach an instance profile',
    ],
    [
      'an instance that lists something else',
      instance,
      ({ method }, response) => response.end(method === 'PUT' ? SESSION : '../../user-data'),
      'main (its sign-in): the instance names no role',
    ],
    [
      'an instance whose metadata are switched off',
      instance,
      (_, response) => response.writeHead(403).end(),
      'main (its sign-in) answered 403 (see its credentials)',
    ],
    [
      'an instance that does not answer',
      instance,
      (_, response) => response.destroy(),
      '(from a container only where the hop limit of the instance is 2 or more)',
    ],
    [
      'a container without a key',
      container,
      (_, response) => respondJson(response, 200, { RoleArn: ROLE_ARN }),
      'main (its sign-in): the answer holds no access key with its secret, token and end',
    ],
    [
      'a role that trusts nobody',
      service,
      (_, response) =>
        respondJson(response, 403, { Error: { Code: 'AccessDenied', Message: 'Not authorized' } }),
      'answered 403 (see its credentials): AccessDenied: Not authorized (see roleArn and the principals in its trust policy)',
    ],
    [
      'a service that answers in XML',
      service,
      (_, response) => response.end('<AssumeRoleWithWebIdentityResponse/>'),
      'answered with an XML document (<AssumeRoleWithWebIdentityResponse>): see its url, which must be that of an API that answers with JSON',
    ],
  ]
  test.each(unlike)('is not had of %s, which is said', async (_name, settings, respond, reason) => {
    const { source, server } = await open(respond, settings)
    const answer = await source.fetchSeries(ASKED)
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(metricsOf(server)).toHaveLength(0)
  })
})
