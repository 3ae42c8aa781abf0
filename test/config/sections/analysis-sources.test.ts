import { describe, expect, test } from 'vitest'

import { readSourceCredentials } from '../../../src/config/sections/analysis-sources.js'
import { loadConfig } from '../../../src/config/load-config.js'
import type { Config } from '../../../src/config/config.js'
import { readSecrets } from '../../../src/config/read-secrets.js'
import { Secret } from '../../../src/lib/outbound/credentials.js'
import { problemsOf } from '../../support/problems-of.js'

function load(...sources: readonly unknown[]): Config['analysis'] {
  return loadConfig({
    env: {},
    flags: [{ path: ['analysis', 'sources'], value: sources, origin: 'test' }],
  }).analysis
}

const prometheus = { name: 'prom', type: 'prometheus', url: 'https://prom.example/mimir' }

describe('the sources of analysis', () => {
  test('are none by default', () => {
    expect(loadConfig({ env: {} }).analysis).toEqual({
      sources: [],
      notifications: [],
      concurrentIntervals: 4,
      maxAgeDays: 90,
      reportLinkDays: 30,
      allowLoopback: true,
      allowPrivate: true,
    })
  })

  test('have limits by default', () => {
    const { sources } = load(
      prometheus,
      { name: 'loki', type: 'loki', url: 'http://loki:3100', maxBytes: '8MiB' },
      { name: 'es', type: 'elasticsearch', url: 'http://es:9200', index: 'logs-*' },
      { name: 'files', type: 'file', directory: 'samples' },
    )
    expect(sources).toEqual([
      { ...prometheus, timeoutSeconds: 30, maxResponseBytes: 16_777_216, maxPoints: 50_000 },
      expect.objectContaining({ type: 'loki', maxLines: 200_000, maxBytes: 8_388_608, pageLines: 5000 }),
      expect.objectContaining({ index: 'logs-*', timeField: '@timestamp', messageField: 'message' }),
      expect.objectContaining({ directory: 'samples', maxFileBytes: 16_777_216 }),
    ])
  })

  test('have their secrets read from elsewhere', () => {
    const { sources } = load({ ...prometheus, credentials: { type: 'bearer', token: { env: 'PROM_TOKEN' } } })
    const asked: unknown[] = []
    const [source] = readSourceCredentials(sources, (reference) => {
      asked.push(reference)
      return new Secret('t')
    })
    expect(asked).toEqual([{ env: 'PROM_TOKEN' }])
    expect(source).toMatchObject({ name: 'prom', credentials: { type: 'bearer', token: new Secret('t') } })
  })

  test('say which secret is missing', () => {
    const config = {
      analysis: load({ ...prometheus, credentials: { type: 'bearer', token: { env: 'PROM_TOKEN' } } }),
    }
    expect(problemsOf(() => readSecrets(config, {}))).toEqual([
      'analysis.sources[0].credentials.token: the environment variable PROM_TOKEN is not set or is empty',
    ])
  })

  const azure = {
    ...{ name: 'azure', type: 'azure', url: 'https://management.azure.example' },
    signIn: {
      ...{ type: 'client-secret', tenantId: 't', clientId: 'c', clientSecret: { env: 'AZURE_SECRET' } },
    },
  }
  const google = {
    ...{ name: 'google', type: 'stackdriver', url: 'https://monitoring.example' },
    serviceAccount: { env: 'GOOGLE_KEY' },
  }

  test('of Azure and Google have their secrets read from elsewhere, and say which is missing', () => {
    const analysis = load(azure, google)
    const [first, second] = readSourceCredentials(analysis.sources, () => new Secret('s'))
    expect(first).toMatchObject({
      signIn: { clientSecret: new Secret('s'), loginUrl: 'https://login.microsoftonline.com' },
    })
    expect(second).toMatchObject({ serviceAccount: new Secret('s') })
    expect(problemsOf(() => readSecrets({ analysis }, {}))).toEqual([
      'analysis.sources[0].signIn.clientSecret: the environment variable AZURE_SECRET is not set or is empty',
      'analysis.sources[1].serviceAccount: the environment variable GOOGLE_KEY is not set or is empty',
    ])
  })

  test('of Google may get their tokens from the metadata server, for a project that is named', () => {
    const from = { project: 'shop-prod', serviceAccountFrom: { type: 'metadata-server' } }
    const { sources } = load({ ...google, serviceAccount: undefined, ...from })
    const [source] = readSourceCredentials(sources, () => new Secret('s'))
    expect(source).toMatchObject({
      serviceAccount: undefined,
      serviceAccountFrom: { url: 'http://169.254.169.254', account: 'default' },
    })
  })

  const amazon = {
    ...{ name: 'aws', type: 'cloudwatch', url: 'https://monitoring.example', region: 'eu-central-1' },
  }
  const webIdentity = {
    ...{ type: 'web-identity', url: 'https://sts.example', token: { env: 'WEB_TOKEN' } },
    roleArn: 'arn:aws:iam::123456789012:role/shop',
  }

  test('of Amazon have an access key or sign in, and use the address of an instance only if configured', () => {
    const analysis = load(
      { ...amazon, accessKeyId: 'AKID', secretAccessKey: { env: 'AWS_KEY' } },
      { ...amazon, name: 'instance', accessKeyFrom: { type: 'instance-role' } },
      {
        ...{ ...amazon, name: 'container', type: 'cloudwatchlogs' },
        accessKeyFrom: { type: 'container-role', url: 'http://169.254.170.2/v2/credentials/1' },
      },
      { ...amazon, name: 'account', accessKeyFrom: webIdentity },
    )
    const [key, instance, container, account] = readSourceCredentials(analysis.sources, () => new Secret('s'))
    expect(key).toMatchObject({ secretAccessKey: new Secret('s'), accessKeyFrom: undefined })
    expect(instance).toMatchObject({
      accessKeyFrom: { type: 'instance-role', url: 'http://169.254.169.254' },
    })
    expect(container).toMatchObject({ accessKeyFrom: { type: 'container-role', token: undefined } })
    expect(account).toMatchObject({ accessKeyFrom: { token: new Secret('s'), sessionName: 'tidegate' } })
    expect(problemsOf(() => readSecrets({ analysis }, {}))).toEqual([
      'analysis.sources[0].secretAccessKey: the environment variable AWS_KEY is not set or is empty',
      'analysis.sources[3].accessKeyFrom.token: the environment variable WEB_TOKEN is not set or is empty',
    ])
  })

  const wrong: readonly { name: string; sources: readonly unknown[]; problem: RegExp }[] = [
    {
      name: 'a type that there is not',
      sources: [{ ...prometheus, type: 'nagios' }],
      problem: /type: must be one of prometheus, loki/,
    },
    {
      name: 'no URL',
      sources: [{ name: 'a', type: 'loki' }],
      problem: /url: is missing: must be an http or https URL/,
    },
    {
      name: 'a secret in the URL',
      sources: [{ ...prometheus, url: 'http://me:hunter2@prom' }],
      problem: /^(?!.*hunter2).*url: must be/,
    },
    {
      name: 'a key of another type',
      sources: [{ ...prometheus, directory: 'x' }],
      problem: /directory: unknown key/,
    },
    {
      name: 'a tenant that would be two headers',
      sources: [{ ...prometheus, tenant: 'a\r\nb: c' }],
      problem: /tenant: must be/,
    },
    {
      name: 'a page of one line',
      sources: [{ ...prometheus, type: 'loki', pageLines: 1 }],
      problem: /pageLines: must be a whole number from 2/,
    },
    {
      name: 'a sign-in of another kind',
      sources: [{ ...azure, signIn: { type: 'password' } }],
      problem: /signIn\.type: must be one of client-secret, workload-identity, managed-identity/,
    },
    {
      name: 'neither an access key nor a sign-in',
      sources: [amazon],
      problem: /an Amazon source needs either accessKeyId and secretAccessKey, or accessKeyFrom: see aws/,
    },
    {
      name: 'an access key and a sign-in',
      sources: [
        {
          ...amazon,
          accessKeyId: 'A',
          secretAccessKey: { env: 'A' },
          accessKeyFrom: { type: 'instance-role' },
        },
      ],
      problem: /an Amazon source needs either accessKeyId and secretAccessKey, or accessKeyFrom: see aws/,
    },
    {
      name: 'an access key without its secret',
      sources: [{ ...amazon, accessKeyId: 'A' }],
      problem: /an Amazon source needs either accessKeyId and secretAccessKey, or accessKeyFrom: see aws/,
    },
    {
      name: 'a role that is no ARN',
      sources: [{ ...amazon, accessKeyFrom: { ...webIdentity, roleArn: 'shop' } }],
      problem: /accessKeyFrom\.roleArn: must be the ARN of a role/,
    },
    {
      name: 'a secret in the URL of its sign-in',
      sources: [{ ...azure, signIn: { ...azure.signIn, loginUrl: 'http://me:hunter2@login' } }],
      problem: /^(?!.*hunter2).*loginUrl: must be an http or https URL/,
    },
    {
      name: 'a key as it is',
      sources: [{ ...google, serviceAccount: '{"private_key":"hunter2"}' }],
      problem: /^(?!.*hunter2).*serviceAccount: must be \{env: NAME\}/,
    },
    {
      name: 'neither a key file nor a way to tokens',
      sources: [{ ...google, serviceAccount: undefined }],
      problem: /a Google source needs either serviceAccount, or serviceAccountFrom and project: see google/,
    },
    {
      name: 'a key file and a metadata server',
      sources: [{ ...google, project: 'p', serviceAccountFrom: { type: 'metadata-server' } }],
      problem: /a Google source needs either serviceAccount, or serviceAccountFrom and project: see google/,
    },
    {
      name: 'a metadata server without a project',
      sources: [{ ...google, serviceAccount: undefined, serviceAccountFrom: { type: 'metadata-server' } }],
      problem: /a Google source needs either serviceAccount, or serviceAccountFrom and project: see google/,
    },
    {
      name: 'a name twice',
      sources: [prometheus, prometheus],
      problem: /the name prom is repeated/,
    },
  ]
  test.each(wrong)('may not have $name', ({ sources, problem }) => {
    expect(problemsOf(() => load(...sources))).toEqual([expect.stringMatching(problem)])
  })
})
