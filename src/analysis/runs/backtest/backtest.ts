import { judgeMetrics } from '../../../canary/index.js'
import type { JudgeOptions, MetricResult, MetricSeries } from '../../../canary/index.js'
import type { Verdict } from '../../../store/ports/analysis-store.js'
import type { FetchBudget } from '../../sources.js'
import type { PlannedTarget, RunPlan } from '../definitions/plan.js'
import { fetchInterval } from '../intervals/fetch-interval.js'
import type { Sources } from '../intervals/fetch-interval.js'
import type { TargetData, MetricData, SeriesData } from '../intervals/interval-data.js'
import { judgeInterval } from '../intervals/judge-interval.js'
import { judgedSeries } from '../intervals/judged-series.js'
import { TRY_BUDGET_MS } from '../intervals/try-queries.js'
import { CHANGES, CHANGE_NAMES, changedSide, isHarm } from './changed-side.js'
import type { ChangeName } from './changed-side.js'
import { detectableOf } from './detectable.js'

/** Judged windows, and how many of them failed or required a review. */
export interface Outcomes {
  readonly judged: number
  readonly failed: number
  readonly reviews: number
}

/** The outcomes of a metric in the windows of a backtest. */
export interface BacktestMetric {
  readonly target: string
  readonly name: string
  readonly pairings: readonly Pairing[]
  /** Without a change: failures and reviews are false alarms. */
  readonly unchanged: Outcomes
  /** With each harmful change of the canary: failures and reviews are finds. */
  readonly changes: Readonly<Partial<Record<ChangeName, Outcomes>>>
  /**
   * For each window, the smallest change that 8 of 10 runs of the definition's lifetime find, as a
   * share of the baseline.
   */
  readonly detectable: readonly number[]
  /** The change that does not matter, as a share of the baseline. Null if no window was compared. */
  readonly margin: number | null
  /** Why windows could not be judged, each reason once. */
  readonly problems: readonly string[]
}

/** The verdicts of whole runs without a change, and the outcomes of their metrics. */
export interface BacktestPart {
  readonly verdicts: Readonly<Record<Verdict, number>>
  readonly metrics: readonly BacktestMetric[]
}

export interface BacktestTask {
  readonly plan: RunPlan
  /** Starts of the windows, in epoch milliseconds. */
  readonly startsMs: readonly number[]
}

const MAX_PROBLEMS = 3

/** Judges past windows of the baseline against themselves, unchanged and changed. */
export async function backtest(
  { plan, startsMs }: BacktestTask,
  sources: Sources,
  now: () => number,
): Promise<BacktestPart> {
  const untilMs = now() + TRY_BUDGET_MS
  const remaining = (): FetchBudget => ({ budgetMs: Math.max(0, untilMs - now()) })
  const verdicts = { Success: 0, Review: 0, Fail: 0 }
  const metrics = new Map<string, MutableMetric>()
  for (const [turn, startMs] of startsMs.entries()) {
    const past = planAt(plan, startMs)
    const paired = pairsOf(past, await fetchInterval(past, 1, sources, remaining), turn)
    const { report } = judgeInterval(paired.plan, { look: 1, targets: paired.targets, seenLogTemplates: [] })
    if (paired.targets.some((target) => target.metrics?.some(isAnswered))) verdicts[report.verdict] += 1
    paired.plan.targets.forEach((target, index) => {
      const results = report.targets[index]?.metrics?.results ?? []
      addTarget(metrics, target, paired, results, index)
    })
  }
  return { verdicts, metrics: [...metrics.values()].map(finished) }
}

interface MutableMetric {
  readonly target: string
  readonly name: string
  readonly pairings: Set<Pairing>
  readonly unchanged: Counter
  readonly changes: Map<ChangeName, Counter>
  readonly detectable: number[]
  margin: number | null
  readonly problems: Set<string>
}

/** Counts outcomes of windows. */
class Counter implements Outcomes {
  judged = 0
  failed = 0
  reviews = 0

  add({ classification }: MetricResult): void {
    this.judged += 1
    if (classification === 'High' || classification === 'Low') this.failed += 1
    else if (classification !== 'Pass') this.reviews += 1
  }
}

function finished({ pairings, changes, problems, ...metric }: MutableMetric): BacktestMetric {
  return {
    ...metric,
    pairings: [...pairings],
    changes: Object.fromEntries(changes),
    problems: [...problems].slice(0, MAX_PROBLEMS),
  }
}

/**
 * The plan of one window: both sides have the baseline's scope. Without an earlier time to compare
 * with, they are two consecutive stretches, which are then dealt to both sides.
 */
function planAt(plan: RunPlan, startMs: number): RunPlan {
  const { lifetimeMs, stepMs } = plan.timing
  const targets = plan.targets.map((target): PlannedTarget => {
    if (target.metrics === undefined) return { name: target.name, metrics: undefined, logs: undefined }
    const { baseline, canary } = target.metrics
    const offsetMs = canary.startMs - baseline.startMs
    const followingMs = startMs + Math.ceil(lifetimeMs / stepMs) * stepMs
    const sides = {
      baseline: { ...baseline, startMs: offsetMs > 0 ? startMs - offsetMs : followingMs },
      canary: { ...baseline, startMs },
    }
    return { name: target.name, metrics: { ...target.metrics, ...sides }, logs: undefined }
  })
  const timing = { ...plan.timing, startedMs: startMs, intervalMs: lifetimeMs, lookBackMs: undefined }
  return { ...plan, timing, targets }
}

interface Paired {
  readonly plan: RunPlan
  readonly targets: readonly TargetData[]
  readonly pairings: readonly (readonly Pairing[])[]
}

function pairsOf(plan: RunPlan, fetched: readonly TargetData[], turn: number): Paired {
  const pairs = fetched.map(({ metrics = [] }, index) => {
    const sides = plan.targets[index]?.metrics
    const isEarlier = sides !== undefined && sides.baseline.startMs < sides.canary.startMs
    return metrics.map((data) => (isEarlier ? { pairing: 'earlier' as const, data } : pseudoPair(data, turn)))
  })
  return {
    plan,
    targets: pairs.map((of) => ({ metrics: of.map(({ data }) => data), logs: undefined })),
    pairings: pairs.map((of) => of.map(({ pairing }) => pairing)),
  }
}

function isAnswered({ baseline, canary }: NonNullable<TargetData['metrics']>[number]): boolean {
  return [baseline, canary].every(({ values }) => values.some((value) => value !== null))
}

function addTarget(
  metrics: Map<string, MutableMetric>,
  { name: target, metrics: planned }: PlannedTarget,
  { plan, targets, pairings }: Paired,
  results: readonly MetricResult[],
  index: number,
): void {
  if (planned === undefined) return
  const series = judgedSeries(planned.metrics, targets[index]?.metrics ?? [])
  series.forEach((one, place) => {
    const { name } = one.spec
    const key = JSON.stringify([target, name])
    const metric = metrics.get(key) ?? emptyMetric(target, name)
    metrics.set(key, metric)
    const result = results[place]
    if (result === undefined || !isJudged(result)) {
      if (result !== undefined) metric.problems.add(result.classificationReason)
      return
    }
    const pairing = pairings[index]?.[place]
    if (pairing !== undefined) metric.pairings.add(pairing)
    addWindow(metric, one, result, plan)
  })
}

function emptyMetric(target: string, name: string): MutableMetric {
  return {
    ...{ target, name, margin: null },
    ...{
      pairings: new Set(),
      unchanged: new Counter(),
      changes: new Map(),
      detectable: [],
      problems: new Set(),
    },
  }
}

/** Whether both sides had data. Too few points are judged: they require a review. */
function isJudged({ classification, noData }: MetricResult): boolean {
  if (classification === 'NodataFailMetric' || classification === 'Nodata') return false
  return noData === null || !['sourceError', 'outOfRange'].includes(noData.state)
}

/** Each change is judged for the metric alone, so other metrics that stay the same cost nothing. */
function addWindow(metric: MutableMetric, series: MetricSeries, result: MetricResult, plan: RunPlan): void {
  metric.unchanged.add(result)
  const found = detectableOf(result)
  if (found !== undefined) metric.detectable.push(found)
  metric.margin = result.finding?.margin ?? metric.margin
  const options: JudgeOptions = { judge: plan.judge, interval: { interval: 1, intervals: 1 } }
  const bound = result.finding?.distanceFrom
  for (const name of CHANGE_NAMES) {
    const factor = CHANGES[name]
    const experiment = isHarm(factor, series.spec, bound)
      ? changedSide(series.experiment, factor, bound)
      : undefined
    if (experiment === undefined) continue
    const metrics = [{ ...series, experiment }]
    const { results } = judgeMetrics({ metrics, groupWeights: {}, thresholds: plan.thresholds }, options)
    const counter = metric.changes.get(name) ?? new Counter()
    metric.changes.set(name, counter)
    if (results[0] !== undefined) counter.add(results[0])
  }
}

/**
 * How a baseline and a canary are made of one version's past: `pods` gives half of the pods to each
 * side, `points` every other point of twice the time, `earlier` compares with the time that
 * `baselineOffsetMinutes` names, as the runs do.
 */
type Pairing = 'pods' | 'points' | 'earlier'

/** Minimum number of pods that are divided: two for each side. */
const MIN_PODS = 4

/** A metric of two sides that had the same version. */
interface PseudoPair {
  readonly pairing: Pairing
  readonly data: MetricData
}

/**
 * Makes a pair of two consecutive stretches of one version: `canary` the first, `baseline` the one
 * that follows. `turn` exchanges which half of the pods, or which points, are the canary.
 */
function pseudoPair({ baseline: later, canary: first, exposure }: MetricData, turn: number): PseudoPair {
  const pods = Math.min(first.units?.length ?? 0, exposure?.canary.units?.length ?? Infinity)
  const deal = pods >= MIN_PODS ? podsOf : pointsOf
  const dealt = (one: SeriesData, other: SeriesData): Pick<MetricData, 'baseline' | 'canary'> => ({
    baseline: deal(one, other, turn % 2),
    canary: deal(one, other, (turn + 1) % 2),
  })
  return {
    pairing: pods >= MIN_PODS ? 'pods' : 'points',
    data: {
      ...dealt(first, later),
      ...(exposure && { exposure: dealt(exposure.canary, exposure.baseline) }),
    },
  }
}

/** Every other pod of the first stretch. */
function podsOf(first: SeriesData, _: SeriesData, remainder: number): SeriesData {
  const units = (first.units ?? []).filter((_unit, index) => index % 2 === remainder)
  const values = first.values.map((_value, place) => meanAt(units, place))
  return { ...first, values, units }
}

function meanAt(units: readonly SeriesData['values'][], place: number): number | null {
  const known = units.flatMap((unit) => unit[place] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value / known.length, 0)
}

/** Every other point of both stretches. */
function pointsOf(first: SeriesData, later: SeriesData, remainder: number): SeriesData {
  const every = (values: SeriesData['values']): SeriesData['values'] =>
    values.filter((_, place) => place % 2 === remainder)
  const units = first.units?.map((unit, index) => every([...unit, ...(later.units?.[index] ?? [])]))
  return {
    ...first,
    state: first.state === 'failed' || later.state === 'failed' ? 'failed' : first.state,
    reasons: [...new Set([...first.reasons, ...later.reasons])],
    stepMs: 2 * first.stepMs,
    values: every([...first.values, ...later.values]),
    // Units of the second stretch may be others.
    ...(units !== undefined && first.units?.length === later.units?.length && { units }),
  }
}
