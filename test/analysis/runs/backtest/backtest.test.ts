import { describe, expect, it } from 'vitest'

import { backtest } from '../../../../src/analysis/runs/backtest/backtest.js'
import { changedSide, isHarm } from '../../../../src/analysis/runs/backtest/changed-side.js'
import { detectableOf } from '../../../../src/analysis/runs/backtest/detectable.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import { stepGrid } from '../../../../src/analysis/sources/answers/step-grid.js'
import type { MetricSource, SeriesQuery } from '../../../../src/analysis/sources.js'
import { readMetricSpecs } from '../../../../src/canary/index.js'
import type { MetricResult, MetricSpec } from '../../../../src/canary/index.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A value between 0 and 1 that depends on its place only. */
const noise = (place: number): number => (Math.sin(place * 12.9898) * 43758.5453) % 1

/** A source of pods whose levels differ by `apart` from one to the next. */
function sourceOf(pods: number, apart: number, queries: SeriesQuery[]): MetricSource {
  return {
    fetchSeries: (query) => {
      queries.push(query)
      const { startMs, stepMs, count } = stepGrid(query, query.stepMs)
      const unitOf = (pod: number): Float64Array =>
        Float64Array.from({ length: count }, (_, place) => {
          const minute = startMs / MINUTE_MS + place
          return 100 * (1 + apart * pod) + 10 * noise(minute + 0.37 * pod)
        })
      const units = Array.from({ length: pods }, (_, pod) => unitOf(pod))
      const values = units[0] ?? new Float64Array(count)
      return Promise.resolve({
        ...{ state: 'complete' as const, reasons: [], warnings: [], query: query.query },
        ...{ startMs, stepMs, values, truncatedPoints: 0, ...(pods > 1 && { units }) },
      })
    },
  }
}

function planOf(offsetMs: number, direction = 'increase'): RunPlan {
  const metrics = readMetricSpecs({
    metrics: [{ name: 'time', groups: ['a'], analysisConfigurations: { canary: { direction } } }],
  }).map((spec) => ({ spec, query: 'time' }))
  return {
    ...{ application: 'shop', owner: '', judge: 'default', thresholds: { pass: 90, marginal: 70 } },
    timing: {
      ...{ startedMs: 0, lifetimeMs: HOUR_MS, intervalMs: HOUR_MS, warmUpMs: 0, delayMs: 0 },
      ...{ lookBackMs: undefined, stepMs: MINUTE_MS },
    },
    targets: [
      {
        ...{ name: 'shop', logs: undefined },
        metrics: {
          ...{ source: 'prom', aggregate: undefined, groupWeights: {}, metrics },
          baseline: { scope: { version: 'v1' }, startMs: -offsetMs },
          canary: { scope: { version: 'v2' }, startMs: 0 },
        },
      },
    ],
  }
}

const startsMs = [0, 2, 4, 6, 8].map((hours) => hours * HOUR_MS)

async function run(plan: RunPlan, pods = 1, apart = 0): ReturnType<typeof testRun> {
  return await testRun(plan, pods, apart)
}

async function testRun(plan: RunPlan, pods: number, apart: number) {
  const queries: SeriesQuery[] = []
  const metrics = sourceOf(pods, apart, queries)
  const sources = new Map([['prom', { name: 'prom', type: 'prometheus' as const, metrics }]])
  return { part: await backtest({ plan, startsMs }, sources, () => 0), queries }
}

describe('backtest', () => {
  it('compares every other point of twice the time, and queries only the baseline', async () => {
    const { part, queries } = await run(planOf(0))
    expect(part.verdicts).toEqual({ Success: 5, Review: 0, Fail: 0 })
    expect(part.metrics).toMatchObject([
      {
        ...{ target: 'shop', name: 'time', pairings: ['points'], margin: 0.05 },
        unchanged: { judged: 5, failed: 0, reviews: 0 },
        changes: { 'x1.5': { judged: 5, failed: 5 }, x5: { judged: 5, failed: 5 } },
      },
    ])
    expect(Object.keys(part.metrics[0]?.changes ?? {})).toEqual(['x1.5', 'x2', 'x5'])
    expect(new Set(queries.map(({ scope }) => scope['version']))).toEqual(new Set(['v1']))
    const windows = queries.map(({ startMs, endMs }) => [startMs, endMs])
    expect(windows).toContainEqual([0, HOUR_MS])
    expect(windows).toContainEqual([HOUR_MS, 2 * HOUR_MS])
  })

  it('compares one half of the pods with the other', async () => {
    const { part } = await run(planOf(0), 6, 0.01)
    expect(part.metrics).toMatchObject([{ pairings: ['pods'], unchanged: { judged: 5, failed: 0 } }])
  })

  it('compares with the earlier time of the definition', async () => {
    const { part, queries } = await run(planOf(24 * HOUR_MS))
    expect(part.metrics).toMatchObject([{ pairings: ['earlier'], unchanged: { judged: 5 } }])
    expect(Math.min(...queries.map(({ startMs }) => startMs))).toBe(-24 * HOUR_MS)
  })

  it('takes each earlier time of the baseline', async () => {
    const plan = planOf(24 * HOUR_MS)
    const [target] = plan.targets
    const earlier = { times: 2, offsetMs: 24 * HOUR_MS }
    const metrics = target?.metrics && { ...target.metrics, earlier }
    const { part, queries } = await run({ ...plan, targets: [{ name: 'shop', logs: undefined, metrics }] })
    expect(part.metrics).toMatchObject([{ pairings: ['earlier'], unchanged: { judged: 5 } }])
    const ofFirst = queries.map(({ startMs }) => startMs).filter((startMs) => startMs % (24 * HOUR_MS) === 0)
    expect(ofFirst.toSorted((a, b) => a - b)).toEqual([-72, -48, -24, 0].map((hours) => hours * HOUR_MS))
  })

  it('also halves the values of a metric whose fall is harm', async () => {
    const { part } = await run(planOf(0, 'decrease'))
    expect(Object.keys(part.metrics[0]?.changes ?? {})).toEqual(['halved'])
  })
})

describe('changedSide', () => {
  const change = (values: number[], factor: number, bound?: number): number[] | undefined => {
    const side = changedSide({ values: Float64Array.from(values) }, factor, bound)
    return side && [...side.values]
  }

  it('keeps whole numbers whole and their sum', () => {
    expect(change([1, 0, 1, 1, 0, 1], 1.5)).toEqual([2, 0, 1, 2, 0, 1])
  })

  it('multiplies the distance from a bound', () => {
    expect(change([99, 98], 2, 100)).toEqual([98, 96])
  })

  it('changes nothing in a side of zeros', () => {
    expect(change([0, 0], 5)).toBeUndefined()
  })

  it.each([
    ['increase', 2, undefined, true],
    ['increase', 0.5, undefined, false],
    ['decrease', 2, 100, true],
    ['decrease', 2, undefined, false],
    ['either', 0.5, undefined, true],
  ] as const)('with direction %s a factor of %d (bound %s) is harm: %s', (direction, factor, bound, harm) => {
    expect(isHarm(factor, { direction } as MetricSpec, bound)).toBe(harm)
  })
})

describe('detectableOf', () => {
  it('needs about 6.18 (2 + e) / e² events to find a rise of their rate by e', () => {
    const events = (6.18 * 2.1) / 0.01
    const result = { finding: { kind: 'count' }, controlStats: { mean: events / 60, count: 60 } }
    expect(detectableOf(result as MetricResult)).toBeCloseTo(0.1, 10)
  })
})
