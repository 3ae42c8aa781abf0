import { seededNormal, seededRandom } from '../../../src/canary/judge/series/seeded-random.js'
import { readMetricSpecs } from '../../../src/canary/judge/canary-config.js'
import type { CheckData } from '../../../src/analysis/runs/checks/check.js'
import type { RunPlan } from '../../../src/analysis/runs/definitions/plan.js'
import type {
  IntervalData,
  MetricData,
  SeriesData,
} from '../../../src/analysis/runs/intervals/interval-data.js'

const START_MS = Date.UTC(2026, 2, 1, 12)
const STEP_MS = 60_000
const SIDE = { scope: { version: 'v1' }, startMs: START_MS }

/** A run of an application, and the fetched data of one of its intervals. */
interface VariedRun {
  readonly plan: RunPlan
  readonly data: IntervalData
}

type Pick = <T>(...from: readonly T[]) => T
interface Chance {
  readonly pick: Pick
  readonly happens: (share: number) => boolean
  readonly normal: () => number
  readonly uniform: () => number
}
type Shape = (chance: Chance, scale: number) => number

const SHAPES: Readonly<Record<string, Shape>> = {
  latency: ({ normal }, scale) => scale * (100 + 10 * normal()),
  heavy: ({ normal }, scale) => scale * Math.exp(normal()),
  errors: ({ happens, uniform }) => (happens(0.15) ? 1 + Math.floor(3 * uniform()) : 0),
  'success rate': ({ uniform }) => 100 - (uniform() < 0.5 ? 0 : 0.1 * uniform()),
  'hit ratio': ({ normal }) => Math.min(1, 0.97 + 0.01 * normal()),
  balance: ({ normal }, scale) => scale * (-50 + 5 * normal()),
  around: ({ normal }, scale) => scale * normal(),
  zero: () => 0,
  steady: (_, scale) => 7 * scale,
  requests: ({ normal }) => Math.max(0, Math.round(900 + 30 * normal())),
}

type Change = (value: number, place: number, count: number, chance: Chance) => number | null

const CHANGES: readonly Change[] = [
  (value) => value,
  (value) => value,
  (value) => value * 1.02,
  (value) => value * 1.3,
  (value) => value * 10,
  (value) => value * 0.5,
  (value) => -value,
  (value) => value + 1,
  (value, place, count) => (place > (2 * count) / 3 ? 3 * value : value),
  (value, place, count) => (place > count - 4 ? 10 * value : value),
  (value, place, count) => (place > count / 2 ? null : value),
  (value, place, count) => (place > count / 2 && place < count / 2 + 9 ? 0 : value),
  (value, _place, _count, { happens }) => (happens(0.4) ? null : value),
  (value) => Math.min(100, value - 1),
  () => null,
  () => 0,
]

const settings = ({ pick, happens }: Chance, others: readonly string[]): object => ({
  direction: pick('increase', 'decrease', 'either'),
  ...(happens(0.2) && { critical: true }),
  ...(happens(0.1) && { mustHaveData: true }),
  ...(happens(0.1) && { muted: true }),
  ...(happens(0.15) && { margin: pick(0, 0.01, 0.2, 0.5) }),
  ...(happens(0.15) && { nanStrategy: 'replace' }),
  ...(happens(0.1) && { limits: { figure: pick('mean', 'p95', 'max'), max: pick(0.5, 120, 1e6) } }),
  ...(happens(0.1) && { upperBound: pick<number | boolean>(100, 1, false) }),
  ...(others.length > 0 && happens(0.1) && { exposure: pick(...others) }),
  ...(happens(0.1) && { noData: { tooFewPoints: pick('ignore', 'fail', 'review') } }),
  ...(happens(0.15) && {
    effectSize: { allowedIncrease: 1.1, criticalIncrease: 1.5, criticalDecrease: 0.5 },
  }),
})

/**
 * A run with metrics, gaps, missing sides, pods, checks and settings of many kinds; the same for
 * the same seed.
 */
export function variedRun(seed: number): VariedRun {
  const uniform = seededRandom(seed)
  const chance: Chance = {
    uniform,
    normal: seededNormal(uniform),
    happens: (share) => uniform() < share,
    pick: (...from) => from[Math.floor(uniform() * from.length)]!,
  }
  const { pick, happens } = chance
  const intervals = pick(1, 1, 3, 12)
  const look = pick(1, Math.ceil(intervals / 2), intervals)
  const count = pick(0, 3, 7, 8, 12, 30, 60, 60)
  const names = Array.from(
    { length: pick(1, 2, 3, 8, 35) },
    (_, place) => `${pick(...Object.keys(SHAPES))} ${place}`,
  )
  const specs = readMetricSpecs({
    metrics: names.map((name) => ({
      ...{ name, groups: pick(['a'], ['b'], ['a', 'b'], []) },
      analysisConfigurations: {
        canary: settings(
          chance,
          names.filter((other) => other !== name),
        ),
      },
    })),
  })
  const pass = pick(95, 90, 100, 50)
  const metrics = {
    ...{ source: 'prom', aggregate: undefined, baseline: SIDE, canary: SIDE },
    metrics: specs.map((spec) => ({ spec, query: happens(0.2) ? 'rate(x[5m])' : 'x' })),
    groupWeights: pick<Record<string, number>>({}, { a: 70, b: 30 }, { a: 100 }, { a: 0 }),
  }
  const checks = happens(0.2) ? [checkData(chance)] : undefined
  const plan: RunPlan = {
    ...{ application: 'shop', owner: 'ana', judge: happens(0.15) ? 'kayenta' : 'default' },
    timing: {
      ...{ startedMs: START_MS, lifetimeMs: 60 * STEP_MS, intervalMs: (60 * STEP_MS) / intervals },
      ...{ warmUpMs: 0, delayMs: 0, lookBackMs: undefined, stepMs: STEP_MS },
    },
    thresholds: { pass, marginal: Math.min(pass, pick(75, 70, pass)) },
    targets: [
      {
        ...{ name: 'web', metrics, logs: undefined },
        ...(checks && { checks: { checks: [], baseline: SIDE, canary: SIDE } }),
      },
    ],
  }
  const target = { metrics: names.map((name) => metricData(name, count, chance)), logs: undefined, checks }
  return { plan, data: { look, targets: [target], seenLogTemplates: [] } }
}

function checkData({ pick, happens }: Chance): CheckData {
  const about = { name: 'budget', rule: 'shop/budget', queries: { baseline: '/a', canary: '/b' } }
  return happens(0.3)
    ? { ...about, problem: 'own answered 503' }
    : { ...about, value: pick<boolean | number>(true, false, 100, 80, 3) }
}

function metricData(name: string, count: number, chance: Chance): MetricData {
  const { pick, happens } = chance
  const shape = SHAPES[name.replace(/ \d+$/, '')]!
  const scale = pick(1, 1, 1, 1e-6, 1e9, 1e60)
  const change = pick(...CHANGES)
  const pods = happens(0.1) ? pick(2, 5) : 0
  const points = (): number[] => Array.from({ length: count }, () => shape(chance, scale))
  const changed = (values: readonly number[]): (number | null)[] =>
    values.map((value, place) => change(value, place, values.length, chance))
  const side = (by: (values: readonly number[]) => (number | null)[]): SeriesData => {
    const units = Array.from({ length: pods }, () => by(points()))
    const values = units[0] ?? by(points())
    const state = values.every((value) => value === null) ? 'empty' : 'complete'
    return { ...series(values, state), ...(pods > 0 && { units }) }
  }
  const failed = { ...series([], 'failed'), reasons: ['prom answered 500'] }
  return {
    baseline: happens(0.04) ? failed : side((values) => [...values]),
    canary: happens(0.04) ? failed : side(changed),
    ...(happens(0.02) && { isSameOnBothSides: true }),
  }
}

function series(values: readonly (number | null)[], state: SeriesData['state']): SeriesData {
  return { state, values, reasons: [], warnings: [], query: 'x', startMs: START_MS, stepMs: STEP_MS }
}
