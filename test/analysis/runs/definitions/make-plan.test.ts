import { describe, expect, test } from 'vitest'

import { readCanaryGroups } from '../../../../src/analysis/runs/definitions/canary-groups.js'
import { readDefinition } from '../../../../src/analysis/runs/definitions/definition.js'
import { makePlan } from '../../../../src/analysis/runs/definitions/make-plan.js'
import type { PlanTemplates } from '../../../../src/analysis/runs/definitions/make-plan.js'
import { warningsOf } from '../../../../src/analysis/runs/definitions/plan.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import { readRegistration } from '../../../../src/analysis/runs/definitions/registration.js'
import { readLogTemplate } from '../../../../src/canary/logs/model/log-template.js'
import { MINUTE_MS, START_MS } from '../../../support/analyses.js'
import { stageBody } from '../../../support/canary-bodies.js'
import { problemsOf } from '../../../support/problems-of.js'

const METRICS = { source: 'prometheus', template: 'app-metric' }
const LOGS = { source: 'loki' }
const TEMPLATES: PlanTemplates = {
  metrics: () => ({ metrics: [], groupWeights: {} }),
  logs: () =>
    readLogTemplate({ templateName: 'app-log', index: 'logs-shop', regularExpression: 'level:error' }),
  thresholds: undefined,
  queryTypes: [],
}

function plan(
  body: object = {},
  definition: object = { metrics: METRICS },
  templates: Partial<PlanTemplates> = {},
): RunPlan {
  return makePlan({
    registration: readRegistration({ application: 'shop', ...body }),
    definition: readDefinition(definition),
    templates: { ...TEMPLATES, ...templates },
    nowMs: START_MS,
  })
}

const OF_ONE_SERVICE = { canary: { metric: { cart: {} } } }

describe('the times of a plan', () => {
  test.each<[string, object, object, object]>([
    [
      'are those of the definition',
      {},
      { lifetimeMinutes: 60, intervalMinutes: 10, delayMinutes: 2, warmUpMinutes: 5, stepSeconds: 15 },
      { lifetimeMs: 60, intervalMs: 10, delayMs: 2, warmUpMs: 5, stepMs: 0.25 },
    ],
    [
      'are those of the registration where it says any',
      { canaryConfig: { lifetimeMinutes: 30, interval: 5, delay: 0 } },
      { lifetimeMinutes: 60, intervalMinutes: 10, delayMinutes: 2 },
      { lifetimeMs: 30, intervalMs: 5, delayMs: 0 },
    ],
    ['have one interval where nothing says how often', {}, {}, { lifetimeMs: 30, intervalMs: 30 }],
    [
      'have no interval longer than the lifetime',
      { canaryConfig: { lifetimeMinutes: 5 } },
      { intervalMinutes: 10 },
      { lifetimeMs: 5, intervalMs: 5 },
    ],
    [
      'slide by the interval where a client says no more',
      { canaryConfig: { lookBackType: 'sliding', interval: 3 } },
      {},
      { lookBackMs: 3 },
    ],
    [
      'grow where a client says so, whatever the definition',
      { canaryConfig: { lookBackType: 'growing' } },
      { lookBack: 'sliding', lookBackMinutes: 10 },
      { lookBackMs: undefined },
    ],
  ])('%s', (_, body, definition, times) => {
    const { timing } = plan(body, { metrics: METRICS, ...definition })
    const inMinutes = Object.entries(timing).map(([name, ms]: [string, number | undefined]) => [
      name,
      ms === undefined ? ms : ms / MINUTE_MS,
    ])
    expect(Object.fromEntries(inMinutes)).toMatchObject(times)
  })

  test('cannot be more intervals than a judge can divide its error by', () => {
    const body = { canaryConfig: { lifetimeMinutes: 10_080, interval: 1 } }
    expect(problemsOf(() => plan(body))).toEqual([expect.stringContaining('more than 1000 intervals')])
  })
})

describe('the windows of a plan', () => {
  const minutes = (at: number): number => START_MS + at * MINUTE_MS
  test.each<[string, object, number, { started: number; baseline: number; canary: number }]>([
    ['start now, where nothing is said', {}, 0, { started: 0, baseline: 0, canary: 0 }],
    [
      'start with the canary',
      { canaryStartTimeMs: minutes(-20) },
      0,
      { started: -20, baseline: -20, canary: -20 },
    ],
    [
      'start with each side, and wait for the later one',
      { canaryStartTimeMs: minutes(-5), baselineStartTimeMs: minutes(-60) },
      0,
      { started: -5, baseline: -60, canary: -5 },
    ],
    [
      'wait for a baseline that starts after the canary',
      { canaryStartTimeMs: minutes(-60), baselineStartTimeMs: minutes(-5) },
      0,
      { started: -5, baseline: -5, canary: -60 },
    ],
    ['have a baseline of a day before', {}, 1440, { started: 0, baseline: -1440, canary: 0 }],
    [
      'start now where a clock is ahead',
      { canaryStartTimeMs: minutes(1), baselineStartTimeMs: minutes(2) },
      0,
      { started: 0, baseline: 0, canary: 0 },
    ],
  ])('%s', (_, times, baselineOffsetMinutes, starts) => {
    const body = { canaryDeployments: [{ ...times, ...OF_ONE_SERVICE }] }
    const { timing, targets } = plan(body, { metrics: METRICS, baselineOffsetMinutes })
    const { baseline, canary } = targets[0]?.metrics ?? {}
    expect({ started: timing.startedMs, baseline: baseline?.startMs, canary: canary?.startMs }).toEqual({
      started: minutes(starts.started),
      baseline: minutes(starts.baseline),
      canary: minutes(starts.canary),
    })
  })
})

describe('the scores of a plan', () => {
  const scores = (minimum: number | undefined, maximum: number | undefined): object => ({
    canaryConfig: {
      canaryHealthCheckHandler: { minimumCanaryResultScore: minimum },
      canarySuccessCriteria: { canaryResultScore: maximum },
    },
  })
  test.each<[string, object, object, object | undefined, [number, number]]>([
    ['are 70 and 90 where nobody says', {}, {}, undefined, [70, 90]],
    ['are those of the canary config', {}, {}, { pass: 95, marginal: 75 }, [75, 95]],
    [
      'are those of the definition before',
      {},
      { pass: 80, marginal: 60 },
      { pass: 95, marginal: 75 },
      [60, 80],
    ],
    ['are those of the registration before', scores(50, 55), { pass: 80, marginal: 60 }, undefined, [50, 55]],
    ['are one where the job sends one', scores(80, 80), {}, undefined, [80, 80]],
    ['pass no lower than they review', scores(95, undefined), {}, undefined, [95, 95]],
    ['leave nothing to review where they are the wrong way round', scores(90, 70), {}, undefined, [70, 70]],
  ])('%s', (_, body, definition, thresholds, [marginal, pass]) => {
    const given = { thresholds } as Partial<PlanTemplates>
    expect(plan(body, { metrics: METRICS, ...definition }, given).thresholds).toEqual({ pass, marginal })
  })
})

describe('the targets of a plan', () => {
  test('are the application itself, by the scopes of its definition, for a bare registration', () => {
    const scopes = { baseline: { version: 'stable' }, canary: { version: 'canary' } }
    expect(plan({}, { metrics: METRICS, logs: LOGS, scopes }).targets).toMatchObject([
      {
        name: 'shop',
        metrics: {
          source: 'prometheus',
          baseline: { scope: { application: 'shop', service: 'shop', version: 'stable' } },
          canary: { scope: { application: 'shop', service: 'shop', version: 'canary' } },
        },
        logs: { source: 'loki', query: 'level:error', index: 'logs-shop' },
      },
    ])
  })

  test('are services with scopes of their own, before those of the definition', () => {
    const body = {
      canaryDeployments: [
        {
          canary: { metric: { cart: { pod: 'a' }, payment: {} } },
          baseline: { metric: { cart: { pod: 'b' } } },
        },
      ],
    }
    const scopes = { baseline: { pod: 'x', ns: 'shop' }, canary: {} }
    const cart = { application: 'shop', service: 'cart' }
    const payment = { application: 'shop', service: 'payment' }
    const { targets } = plan(body, { metrics: METRICS, logs: LOGS, scopes })
    expect(
      targets.map(({ name, metrics, logs }) => [name, metrics?.baseline.scope, metrics?.canary.scope, logs]),
    ).toEqual([
      ['cart', { ...cart, pod: 'b', ns: 'shop' }, { ...cart, pod: 'a' }, undefined],
      ['payment', { ...payment, pod: 'x', ns: 'shop' }, payment, undefined],
    ])
  })

  test('have the application in their scope, whatever pipeline the verification stage names as the service', () => {
    const { targets } = plan(stageBody(), { metrics: METRICS, logs: LOGS })
    const scope = { application: 'shop', service: 'prod-rollout', pipelineName: 'prod-rollout' }
    expect(targets).toMatchObject([
      {
        name: 'prod-rollout',
        metrics: { baseline: { scope }, canary: { scope } },
        logs: { baseline: { scope }, canary: { scope } },
      },
    ])
  })

  test('keep the service that a definition names', () => {
    const scopes = { baseline: { service: 'shop-stable' }, canary: { service: 'shop-canary' } }
    expect(plan(stageBody(), { metrics: METRICS, scopes }).targets[0]?.metrics).toMatchObject({
      baseline: { scope: { application: 'shop', service: 'shop-stable' } },
      canary: { scope: { application: 'shop', service: 'shop-canary' } },
    })
  })

  test('search the index and the lines that the definition names, before those of the template', () => {
    const logs = { ...LOGS, query: '{app="shop"}', index: 'other', maxLines: 10 }
    expect(plan({}, { logs }).targets[0]?.logs).toMatchObject({
      query: '{app="shop"}',
      index: 'other',
      maxLines: 10,
    })
  })

  test('must be something that the definition speaks of', () => {
    const body = { canaryDeployments: [{ canary: { log: { cart: {} } } }] }
    expect(problemsOf(() => plan(body))).toEqual([
      'the analysis of shop has no metrics, logs or checks for this request: name a source and a template in its definition',
    ])
  })
})

describe('a query that Kayenta makes for instances of Google', () => {
  const query = { metricName: 'cpu', resourceType: 'gce_instance' }
  const groups = readCanaryGroups({ metrics: [{ name: 'cpu', query }] })
  const planned = (scopes: object): string | undefined => {
    const definition = { metrics: { source: 'prometheus', canaryConfig: {} }, scopes }
    const { targets } = plan(OF_ONE_SERVICE, definition, { metrics: () => groups })
    return targets[0]?.metrics?.metrics[0]?.query
  }

  test('asks for the project of the scope, and for any where the scope names none', () => {
    expect(planned({ canary: { project: 'p1' } })).toContain('zone=~".+/projects/${project}/zones/')
    expect(planned({})).toBe('avg(cpu{instance=~"${scope}-.{4}",zone=~".+/zones/${location}-.{1}"})')
  })
})

test.each([
  ['logs', { metrics: METRICS }],
  ['metrics', { logs: LOGS }],
])(
  '%s that are asked for and have no source are told of, and only where they are asked for',
  (what, definition) => {
    expect(warningsOf(plan(stageBody(), definition))).toEqual([
      `${what} of prod-rollout were requested and are not judged: the definition of shop names no source of ${what}`,
    ])
    expect(warningsOf(plan({}, definition))).toEqual([])
    expect(warningsOf(plan(stageBody(), { metrics: METRICS, logs: LOGS }))).toEqual([])
  },
)
