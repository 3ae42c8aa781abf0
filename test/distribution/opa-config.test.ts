import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { readOpaConfig } from '../../src/distribution/opa-config/read-opa-config.js'
import type { OpaConfig } from '../../src/distribution/opa-config/read-opa-config.js'
import type { AppError } from '../../src/errors/app-error.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'ca.pem': 'ca', 'cert.pem': 'cert', 'key.pem': 'key', 'web-token': 'jwt' })
afterAll(workspace.remove)
const file = (name: string): string => join(workspace.path, name)

function read(text: string, env: Readonly<Record<string, string>> = {}): OpaConfig {
  workspace.write({ 'opa.yaml': text })
  return readOpaConfig(file('opa.yaml'), env)
}

function problems(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    read(text, env)
  } catch (raw) {
    return (raw as AppError).details.map(({ message }) => message)
  }
  return expect.fail('it was read')
}

/** The first source of a configuration with these credentials. */
function accessWith(credentials: object, env: Readonly<Record<string, string>> = {}) {
  const services = { s: { url: 'https://here', credentials } }
  const { sources } = read(JSON.stringify({ services, bundles: { main: { service: 's' } } }), env)
  const location = sources[0]?.location
  return location?.type === 'http' ? location.access : expect.fail('it is no server')
}

describe('a configuration file of OPA', () => {
  test('gives sources with the addresses, times and defaults of OPA', () => {
    const { sources, labels, defaultDecision, unsupported } = read(`
services:
  acmecorp:
    url: https://example.com/service/v1/
    headers: {x-team: a}
    response_header_timeout_seconds: 5
bundles:
  authz:
    service: acmecorp
    resource: somedir/bundle.tar.gz
    persist: true
    polling: {min_delay_seconds: 10, max_delay_seconds: 20, long_polling_timeout_seconds: 40}
    signing: {keyid: k, scope: write, exclude_files: ['*.md']}
  plain: {}
  local: {resource: 'file:///srv/bundle.tar.gz'}
labels: {region: west}
default_decision: /authz/allow
`)
    expect(sources).toMatchObject([
      {
        name: 'authz',
        ...{ minDelayMs: 10_000, maxDelayMs: 20_000, longPollMs: 40_000, staleAfterMs: 200_000 },
        location: {
          url: 'https://example.com/service/v1/somedir/bundle.tar.gz',
          access: { headers: { 'x-team': 'a' }, timeoutMs: 5000 },
        },
        demand: { isRequired: true, keyId: 'k', scope: 'write', excludedFiles: ['*.md'] },
      },
      {
        name: 'plain',
        ...{ minDelayMs: 60_000, maxDelayMs: 120_000, longPollMs: 0 },
        location: { url: 'https://example.com/service/v1/bundles/plain' },
        demand: { isRequired: false },
      },
      { name: 'local', location: { type: 'file', path: '/srv/bundle.tar.gz' } },
    ])
    expect({ labels, defaultDecision, unsupported }).toEqual({
      labels: { region: 'west' },
      defaultDecision: '/authz/allow',
      unsupported: [],
    })
  })

  test('may list its services, and has environment variables in its text', () => {
    const { sources } = read(
      'services: [{name: a, url: "${HOST}/v1", credentials: {bearer: {token: "${TOKEN}"}}}]\nbundles: {b: {}}',
      { HOST: 'https://here', TOKEN: 'secret' },
    )
    expect(sources[0]?.location).toMatchObject({
      url: 'https://here/v1/bundles/b',
      access: { headers: { authorization: 'Bearer secret' } },
    })
  })

  test('signs in with tokens, files of tokens, certificates and OAuth2', () => {
    expect(accessWith({ bearer: { token: 't', scheme: 'Token' } }).headers).toEqual({
      authorization: 'Token t',
    })
    expect(accessWith({ bearer: { token_path: '/run/t' } }).tokenFile).toEqual({
      path: '/run/t',
      scheme: 'Bearer',
    })
    const tls = accessWith({ client_tls: { cert: file('cert.pem'), private_key: file('key.pem') } }).tls
    expect(tls).toMatchObject({ cert: 'cert', key: 'key' })
    const oauth2 = { token_url: 'https://login', client_id: 'i', client_secret: 's', scopes: ['r'] }
    expect(accessWith({ oauth2 }).signIn).toMatchObject({
      tokenUrl: 'https://login',
      clientId: 'i',
      scopes: ['r'],
    })
  })

  test('names images of registries, whose user and password it encodes', () => {
    const { sources } = read(`
services: {r: {url: 'https://registry.example.com', type: oci, credentials: {bearer: {scheme: Basic, token: 'a:b'}}}}
bundles: {i: {resource: 'registry.example.com/team/policies:1.0'}}
`)
    expect(sources[0]?.location).toMatchObject({
      ...{ type: 'oci', url: 'https://registry.example.com', repository: 'team/policies', reference: '1.0' },
      access: { headers: { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` } },
    })
  })

  test('signs for S3 with the variables of OPA', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'k', AWS_REGION: 'eu-west-1' }
    const environment = { s3_signing: { environment_credentials: {} } }
    expect(accessWith(environment, keys).signIn).toMatchObject({
      ...{ type: 'aws', service: 's3', region: 'eu-west-1', accessKeyId: 'id' },
    })
    const instance = { s3_signing: { metadata_credentials: { aws_region: 'r-1', iam_role: 'role' } } }
    expect(accessWith(instance).signIn).toMatchObject({
      accessKeyFrom: { type: 'instance-role', role: 'role' },
    })
    expect(accessWith(instance, { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' }).signIn).toMatchObject({
      accessKeyFrom: { type: 'container-role', url: 'http://169.254.170.2/c' },
    })
    const web = { s3_signing: { web_identity_credentials: { aws_region: 'r-1' } } }
    const role = { AWS_ROLE_ARN: 'arn', AWS_WEB_IDENTITY_TOKEN_FILE: file('web-token') }
    expect(accessWith(web, role).signIn).toMatchObject({
      accessKeyFrom: { type: 'web-identity', url: 'https://sts.r-1.amazonaws.com', roleArn: 'arn' },
    })
  })

  test('gives keys, as their text', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const { keys } = read(
      JSON.stringify({
        keys: { k: { key: pem, algorithm: 'ES256', scope: 'read' }, h: { key: 's', algorithm: 'HS256' } },
      }),
    )
    expect(keys.get('k')).toMatchObject({ algorithm: 'ES256', scope: 'read' })
    expect(keys.get('h')).toMatchObject({ algorithm: 'HS256', scope: '' })
  })

  test('names every member without an effect, and none that has one', () => {
    const { unsupported } = read(`
services: {s: {url: 'https://here', allow_insecure_tls: true}}
bundles: {b: {service: s, trigger: manual, size_limit_bytes: 5}}
decision_logs: {console: true}
discovery: {resource: /d, trigger: manual}
`)
    expect(unsupported).toEqual([
      'services.s.allow_insecure_tls',
      'bundles.b.trigger',
      'bundles.b.size_limit_bytes',
      'decision_logs.console',
      'discovery.trigger',
    ])
  })

  test('is refused with every problem', () => {
    expect(
      problems(`
services: {s: {url: 'https://here', credentials: {gcp_metadata: {audience: x}}}, t: {url: 'https://here', type: other}}
bundles: {a: {service: s}, b: {service: none}, c: {service: t}, d: {}, e: {resource: 'file:///b', polling: {min_delay_seconds: 1}}}
keys: {k: {key: x, algorithm: none}}
`),
    ).toEqual([
      'bundles.a: credentials.gcp_metadata are not supported: use bearer, client_tls, oauth2 or s3_signing',
      'bundles.b: there is no service none',
      expect.stringContaining('bundles.c: '),
      'bundles.d: it names no service',
      'bundles.e: polling needs both min_delay_seconds and max_delay_seconds',
      'keys.k: the algorithm none is unknown',
    ])
    expect(problems('services: 5')[0]).toContain('services')
  })
})
