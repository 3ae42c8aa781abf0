import type { AnswerState, FetchBudget } from '../../sources.js'
import type { RunPlan } from '../definitions/plan.js'
import type { EvaluateRule, CheckData } from '../checks/check.js'
import { fetchInterval } from './fetch-interval.js'
import type { Sources } from './fetch-interval.js'
import type { LinesData, LogData, MetricData, SeriesData, TargetData } from './interval-data.js'
import type { IntervalReport } from './interval-report.js'
import { judgeInterval } from './judge-interval.js'

/** The result of a query for a series. */
export interface TriedSeries {
  readonly state: AnswerState
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
  /** As it was sent. */
  readonly query: string
  /** Steps in the window, and how many of them have a value. */
  readonly steps: number
  readonly points: number
  readonly min: number | null
  readonly mean: number | null
  readonly max: number | null
  /**
   * The shape of the series: the mean of each of at most 60 parts of the window, null for a gap.
   */
  readonly shape: readonly (number | null)[]
}

export interface TriedMetric {
  readonly name: string
  readonly baseline: TriedSeries
  readonly canary: TriedSeries
  readonly exposure?: { readonly baseline: TriedSeries; readonly canary: TriedSeries } | undefined
  /** Whether both sides sent the same query, which an analysis would not judge. */
  readonly isSameOnBothSides: boolean
}

/** The result of a query for lines. */
export interface TriedLines {
  readonly state: AnswerState
  readonly reasons: readonly string[]
  readonly query: string
  readonly lines: number
  /** The first of them. */
  readonly sample: readonly string[]
}

/** The results of the queries of one service. */
export interface TriedTarget {
  readonly name: string
  readonly metrics: readonly TriedMetric[]
  readonly logs: { readonly baseline: TriedLines | undefined; readonly canary: TriedLines } | undefined
  readonly checks?: readonly CheckData[] | undefined
}

/** The results of all queries of a definition. */
export interface TriedPlan {
  readonly targets: readonly TriedTarget[]
  /** The judgement of such a run; present if it was requested. */
  readonly judged?: TriedJudgement
}

/** A judgement that is not stored, with the data of its charts. */
export interface TriedJudgement {
  readonly report: IntervalReport
  /** Without the lines of logs. */
  readonly data: readonly TargetData[]
}

/** All queries of a definition together, in milliseconds. */
export const TRY_BUDGET_MS = 60_000
const SHAPE_PARTS = 60
const SAMPLE_LINES = 5
const SAMPLE_CHARACTERS = 200

/** What to try. */
export interface TryTask {
  readonly plan: RunPlan
  /** Whether to judge the results. */
  readonly judges: boolean
}

/**
 * Sends every query of a plan once, for the window of its only interval. Never rejects: problems of
 * a source are part of the result.
 */
export async function tryQueries(
  { plan, judges }: TryTask,
  sources: Sources,
  now: () => number,
  evaluateRule?: EvaluateRule,
): Promise<TriedPlan> {
  const untilMs = now() + TRY_BUDGET_MS
  const remaining = (): FetchBudget => ({ budgetMs: Math.max(0, untilMs - now()) })
  const fetched = await fetchInterval(plan, 1, sources, remaining, evaluateRule)
  const targets = plan.targets.map(({ name, metrics }, index) => ({
    name,
    metrics: (fetched[index]?.metrics ?? []).map((data, at) =>
      toMetric(metrics?.metrics[at]?.spec.name ?? '', data),
    ),
    logs: toLogs(fetched[index]?.logs),
    ...(fetched[index]?.checks && { checks: fetched[index].checks }),
  }))
  if (!judges) return { targets }
  const { report } = judgeInterval(plan, { look: 1, targets: fetched, seenLogTemplates: [] })
  return { targets, judged: { report, data: fetched.map((data) => ({ ...data, logs: undefined })) } }
}

function toMetric(name: string, { baseline, canary, exposure, isSameOnBothSides }: MetricData): TriedMetric {
  return {
    name,
    baseline: toSeries(baseline),
    canary: toSeries(canary),
    ...(exposure && {
      exposure: { baseline: toSeries(exposure.baseline), canary: toSeries(exposure.canary) },
    }),
    isSameOnBothSides: isSameOnBothSides === true,
  }
}

function toSeries({ state, reasons, warnings, query, values }: SeriesData): TriedSeries {
  const points = values.filter((value) => value !== null)
  const mean = meanOf(points)
  return {
    ...{ state, reasons, warnings, query, steps: values.length, points: points.length, mean },
    min: points.length === 0 ? null : points.reduce((least, value) => Math.min(least, value)),
    max: points.length === 0 ? null : points.reduce((most, value) => Math.max(most, value)),
    shape: shapeOf(values),
  }
}

function shapeOf(values: readonly (number | null)[]): readonly (number | null)[] {
  const parts = Math.min(SHAPE_PARTS, values.length)
  return Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * values.length) / parts)
    const to = Math.floor(((part + 1) * values.length) / parts)
    return meanOf(values.slice(from, to).filter((value) => value !== null))
  })
}

/** By shares, so that values near the largest number have one. */
function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value / values.length, 0)
}

function toLogs(logs: LogData | undefined): TriedTarget['logs'] {
  return logs && { baseline: logs.baseline && toLines(logs.baseline), canary: toLines(logs.canary) }
}

function toLines({ state, reasons, query, lines }: LinesData): TriedLines {
  const sample: string[] = []
  for (const [, text] of lines) {
    if (sample.length === SAMPLE_LINES) break
    sample.push(text.slice(0, SAMPLE_CHARACTERS))
  }
  return { state, reasons, query, lines: lines.length, sample }
}
