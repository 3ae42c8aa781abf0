import { describe, expect, test } from 'vitest'

import { readRegistration } from '../../../../src/analysis/runs/definitions/registration.js'
import type { Registration } from '../../../../src/analysis/runs/definitions/registration.js'
import { argoBody, stageBody, testStageBody } from '../../../support/canary-bodies.js'
import { problemsOf } from '../../../support/problems-of.js'

const STARTS_MS = 1_718_000_000_000
const NONE = { template: undefined, templateSha1: undefined }
const NOTHING_SAID: Registration = {
  application: 'shop',
  executionId: undefined,
  owner: undefined,
  lifetimeMinutes: undefined,
  intervalMinutes: undefined,
  lookBack: undefined,
  lookBackMinutes: undefined,
  delayMinutes: undefined,
  warmUpMinutes: undefined,
  marginal: undefined,
  pass: undefined,
  targets: [],
  isFromPlugin: false,
}

/** The scopes of one service in a registration with one deployment. */
function oneScope(service: object): object | undefined {
  const deployment = { canary: { metric: { shop: service } } }
  const { targets } = readRegistration({ application: 'shop', canaryDeployments: [deployment] })
  return targets[0]?.metric?.canary
}

describe('a registration', () => {
  test('may be of the application alone', () => {
    expect(readRegistration({ application: ' shop ' })).toEqual(NOTHING_SAID)
  })

  test('of the verification stage is read whole', () => {
    const scope = { pipelineName: 'prod-rollout', serviceGate: 'Verify' }
    const scopes = { baseline: scope, canary: scope, ...NONE }
    expect(readRegistration(stageBody())).toEqual({
      ...NOTHING_SAID,
      executionId: '01J0ABCDEF',
      owner: 'ana',
      lifetimeMinutes: 30,
      marginal: 70,
      pass: 90,
      isFromPlugin: true,
      targets: [
        {
          service: 'prod-rollout',
          baselineStartMs: STARTS_MS,
          canaryStartMs: STARTS_MS,
          metric: scopes,
          log: scopes,
        },
      ],
    })
  })

  test('of the test-verification stage counts its lifetime in hours and compares logs alone', () => {
    const { lifetimeMinutes, warmUpMinutes, marginal, pass, targets } = readRegistration(testStageBody())
    expect({ lifetimeMinutes, warmUpMinutes, marginal, pass }).toEqual({
      lifetimeMinutes: 30,
      warmUpMinutes: 5,
      marginal: 70,
      pass: undefined,
    })
    expect(targets).toMatchObject([
      {
        baselineStartMs: STARTS_MS - 86_400_000,
        metric: undefined,
        log: { baseline: { testrunkey: 'run-1' }, canary: { testrunkey: 'run-2' } },
      },
    ])
  })

  test('of the Argo job is read with its texts for numbers, its scope variables and its templates', () => {
    const registration = readRegistration(argoBody())
    expect(registration).toMatchObject({
      lifetimeMinutes: 30,
      intervalMinutes: 3,
      lookBack: 'growing',
      delayMinutes: 1,
      marginal: 80,
      pass: 80,
      isFromPlugin: true,
    })
    expect(registration.targets).toEqual([
      {
        service: 'service1',
        baselineStartMs: STARTS_MS,
        canaryStartMs: STARTS_MS,
        metric: {
          baseline: {},
          canary: { ns: 'shop', pod: 'canary', serviceGate: 'gate1' },
          template: 'app-metric',
          templateSha1: undefined,
        },
        log: {
          baseline: { 'kubernetes.pod_name': '.*stable.*', serviceGate: 'gate1' },
          canary: { 'kubernetes.pod_name': '.*canary.*', serviceGate: 'gate1' },
          template: 'app-log',
          templateSha1: 'a'.repeat(40),
        },
      },
    ])
  })

  test('may say since when without naming services', () => {
    const { targets } = readRegistration({
      application: 'shop',
      canaryDeployments: [{ canaryStartTimeMs: '1718000000000' }],
    })
    const scopes = { baseline: {}, canary: {} }
    expect(targets).toMatchObject([
      { service: 'shop', canaryStartMs: 1_718_000_000_000, metric: scopes, log: scopes },
    ])
  })

  test('has a target for each service of each deployment', () => {
    const deployment = (...services: string[]): object => ({
      canary: { metric: Object.fromEntries(services.map((name) => [name, {}])) },
    })
    const { targets } = readRegistration({
      application: 'shop',
      canaryDeployments: [deployment('cart', 'toString'), deployment('payment')],
    })
    expect(targets.map(({ service }) => service)).toEqual(['cart', 'toString', 'payment'])
    expect(targets.map(({ log }) => log)).toEqual([undefined, undefined, undefined])
  })

  test.each([
    ['of one variable', { '${pod}': 'a,b' }, { pod: 'a,b' }],
    ['of two variables', { '${ns},${pod}': 'shop,canary' }, { ns: 'shop', pod: 'canary' }],
    ['with spaces', { 'ns, pod': 'shop , canary' }, { ns: 'shop', pod: 'canary' }],
    ['with fewer values than variables', { 'ns,pod': 'shop' }, { ns: 'shop', pod: '' }],
    ['of a number', { shard: 3 }, { shard: '3' }],
    [
      'next to what is no scope',
      { pod: 'a', tags: ['x'], more: { y: 1 }, none: null, template: 't' },
      { pod: 'a' },
    ],
  ])('has a scope %s', (_, service, scope) => {
    expect(oneScope(service)).toEqual(scope)
  })

  test.each([
    ['hours', { lifetimeHours: 2 }, { lifetimeMinutes: 120 }],
    ['minutes before hours', { lifetimeMinutes: 10, lifetimeHours: 2 }, { lifetimeMinutes: 10 }],
    ['an interval by its old name', { canaryAnalysisIntervalMins: '5' }, { intervalMinutes: 5 }],
    [
      'an interval by its older name',
      { canaryAnalysisConfig: { canaryAnalysisIntervalMins: 5 } },
      { intervalMinutes: 5 },
    ],
    ['no interval by a 0', { interval: '0' }, { intervalMinutes: undefined }],
    [
      'a look-back',
      { lookBackType: 'Sliding', lookbackMins: '15' },
      { lookBack: 'sliding', lookBackMinutes: 15 },
    ],
    ['no look-back by a 0', { lookbackMins: 0 }, { lookBackMinutes: undefined }],
    ['nothing by an empty text', { lifetimeMinutes: ' ', interval: '', lookBackType: null }, {}],
  ])('may say %s', (_, canaryConfig, said) => {
    expect(readRegistration({ application: 'shop', canaryConfig })).toEqual({ ...NOTHING_SAID, ...said })
  })
})

describe('what is wrong with a registration', () => {
  test.each([[null], [[]], ['shop'], [7]])('is that %j is no object', (body) => {
    expect(problemsOf(() => readRegistration(body))).toEqual([
      'the body must be a JSON object with an application',
    ])
  })

  test.each([
    ['a missing application', {}, 'application is missing'],
    ['an empty application', { application: ' ' }, 'application is missing'],
    ['an application that is no text', { application: ['shop'] }, 'application must be text'],
    [
      'a lifetime of nothing',
      { lifetimeMinutes: '0' },
      'lifetimeMinutes must be a number from 0.05 to 10080, not "0"',
    ],
    [
      'a lifetime below 0',
      { lifetimeMinutes: -5 },
      'lifetimeMinutes must be a number from 0.05 to 10080, not -5',
    ],
    [
      'a lifetime without end',
      { lifetimeHours: 1e9 },
      /^lifetimeHours must be a number from .* to 168, not 1000000000$/,
    ],
    ['an interval in words', { interval: 'often' }, 'interval must be a number from 0 to 10080, not "often"'],
    [
      'a score above 100',
      { canarySuccessCriteria: { canaryResultScore: 900 } },
      'canaryResultScore must be a number from 0 to 100, not 900',
    ],
    ['an unknown look-back', { lookBackType: 'wide' }, 'lookBackType must be one of growing, sliding'],
  ])('is named: %s', (_, said, problem) => {
    const body =
      'application' in said || Object.keys(said).length === 0
        ? said
        : { application: 'shop', canaryConfig: said }
    const problems = problemsOf(() => readRegistration(body))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(problem)
  })

  test('is named all at once', () => {
    const body = {
      canaryConfig: { lifetimeMinutes: 'long', delay: true },
      canaryDeployments: [{ canaryStartTimeMs: 'yesterday', canary: { log: { shop: { template: {} } } } }],
    }
    expect(problemsOf(() => readRegistration(body))).toEqual([
      'application is missing',
      expect.stringMatching(/^lifetimeMinutes must be a number/),
      expect.stringMatching(/^delay must be a number/),
      expect.stringMatching(/^canaryStartTimeMs must be a number/),
      'template must be text',
    ])
  })
})

test.each(['application', 'executionId'])(
  'a registration whose %s is a book is refused without it',
  (member) => {
    const body = { application: 'shop', [member]: 'x'.repeat(100_000) }
    expect(() => readRegistration(body)).toThrow(`${member} has more than 2000 characters`)
  },
)
