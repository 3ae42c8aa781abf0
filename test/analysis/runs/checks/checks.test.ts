import { describe, expect, test } from 'vitest'

import type { EvaluateRule } from '../../../../src/analysis/runs/checks/check.js'
import { readDefinition } from '../../../../src/analysis/runs/definitions/definition.js'
import { joinPlan, keepPlan } from '../../../../src/analysis/runs/definitions/kept-plan.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import { evaluateInterval } from '../../../../src/analysis/runs/evaluate-interval.js'
import { judgeInterval } from '../../../../src/analysis/runs/intervals/judge-interval.js'
import type { IntervalReport } from '../../../../src/analysis/runs/intervals/interval-report.js'
import { unpackData } from '../../../../src/analysis/runs/intervals/pack-interval.js'
import type { DocumentQuery } from '../../../../src/analysis/sources.js'
import type { AnalysisSource } from '../../../../src/analysis/sources/make-sources.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../../support/analyses.js'

const TIMING = makeTiming({ lifetimeMs: 60 * MINUTE_MS, intervalMs: 60 * MINUTE_MS })
const CHECK = { name: 'budget', source: 'own', query: '/budget/${version}', rule: 'shop/kept' }
const PLAN: RunPlan = makeRunPlan({
  timing: TIMING,
  targets: [
    {
      ...{ name: 'shop', metrics: undefined, logs: undefined },
      checks: {
        checks: [CHECK],
        baseline: { scope: { version: 'stable' }, startMs: START_MS },
        canary: { scope: { version: 'canary' }, startMs: START_MS },
      },
    },
  ],
})

type Fetch = (query: DocumentQuery) => { document: unknown } | { problem: string }

function sourcesOf(fetch: Fetch): ReadonlyMap<string, AnalysisSource> {
  const own: AnalysisSource = {
    ...{ name: 'own', type: 'web' },
    documents: { fetchDocument: (query) => Promise.resolve({ query: query.query, ...fetch(query) }) },
  }
  return new Map([['own', own]])
}

const REQUEST = { runId: 1, plan: PLAN, interval: 1, seenLogTemplates: [] }
const left: Fetch = ({ scope }) => ({ document: { left: scope['version'] === 'canary' ? 7 : 9 } })

async function judged(value: unknown, fetch: Fetch = left): Promise<IntervalReport> {
  const askRule: EvaluateRule = () => Promise.resolve({ value })
  return (await evaluateInterval(REQUEST, sourcesOf(fetch), () => START_MS, askRule)).report
}

describe('a check of an analysis', () => {
  test.each([
    [true, 'Success', 100, 'The rule shop/kept is true'],
    [false, 'Fail', 0, 'The rule shop/kept is false'],
    [95, 'Success', 95, 'The rule shop/kept is 95 of 100'],
    [80, 'Review', 80, 'The rule shop/kept is 80 of 100'],
    [0, 'Fail', 0, 'The rule shop/kept is 0 of 100'],
  ])('whose rule says %j comes to %s', async (value, verdict, score, reason) => {
    expect(await judged(value)).toMatchObject({ verdict, score, reason, errors: [], isUnanswered: false })
  })

  test.each([[undefined], [null], ['true'], [101], [-1], [{ allow: true }], [[true]], [Number.NaN]])(
    'whose rule says %j is not known, and never passes',
    async (value) => {
      const { verdict, score, isUnanswered, errors } = await judged(value)
      expect([verdict, score, isUnanswered]).toEqual(['Fail', 0, true])
      expect(errors[0]).toMatch(
        /^shop: check budget: the rule shop\/kept is .*: it must be true, false, or a score/,
      )
    },
  )

  test('has the documents of both sides with their scopes and windows', async () => {
    const asked: unknown[] = []
    const askRule: EvaluateRule = (rule, input) => {
      asked.push([rule, input])
      return Promise.resolve({ value: true })
    }
    await evaluateInterval(REQUEST, sourcesOf(left), () => START_MS, askRule)
    const window = { startMs: START_MS, endMs: START_MS + 60 * MINUTE_MS }
    expect(asked).toEqual([
      [
        'shop/kept',
        {
          ...{ application: PLAN.application, service: 'shop' },
          baseline: { document: { left: 9 }, scope: { version: 'stable' }, ...window },
          canary: { document: { left: 7 }, scope: { version: 'canary' }, ...window },
        },
      ],
    ])
  })

  test('is not evaluated without its documents', async () => {
    const report = await judged(true, ({ scope }) =>
      scope['version'] === 'stable' ? { problem: 'own answered 503' } : { document: {} },
    )
    expect(report).toMatchObject({
      ...{ verdict: 'Fail', isUnanswered: true },
      reason:
        'No answer from the source for the check budget of shop (shop: check budget: baseline: own answered 503)',
    })
  })

  test('of a source that is gone, and of no policies, is not known', async () => {
    const gone = await evaluateInterval(REQUEST, new Map(), () => START_MS)
    expect(gone.report.errors).toEqual([
      'shop: check budget: analysis.sources has no source own of documents (type web)',
    ])
    const { report } = await evaluateInterval(REQUEST, sourcesOf(left), () => START_MS)
    expect(report.errors).toEqual([
      'shop: check budget: the rule shop/kept cannot be evaluated: there are no policies',
    ])
  })

  test('is judged again from what was kept', async () => {
    const askRule: EvaluateRule = () => Promise.resolve({ value: 80 })
    const { report, data } = await evaluateInterval(REQUEST, sourcesOf(left), () => START_MS, askRule)
    const { plan, parts } = keepPlan(PLAN)
    const kept = joinPlan(plan, new Map(parts.map(({ sha256, body }) => [sha256, body])))
    expect(judgeInterval(kept, unpackData(data)).report).toEqual(report)
  })
})

describe('the checks of a definition', () => {
  test.each([
    [{ checks: [] }, 'checks'],
    [{ checks: [CHECK, CHECK] }, 'has two checks with the same name'],
    [{ checks: [{ ...CHECK, rule: 'data.shop.kept' }] }, 'without the leading data'],
    [{ checks: [{ ...CHECK, rule: 'shop//kept' }] }, 'must be the path of a rule'],
    [{}, 'needs metrics, logs or checks'],
  ])('are refused as %j', (definition, reason) => {
    expect(() => readDefinition(definition)).toThrow(reason)
  })

  test('are enough by themselves', () => {
    expect(readDefinition({ checks: [CHECK] }).checks).toEqual([CHECK])
  })
})
