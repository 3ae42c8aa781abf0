import {
  judgeMetrics,
  type JudgeOptions,
  type JudgeReport,
  type JudgedLogs,
  judgeLogs,
  logJudgeOptions,
  type LogSide,
  type PlannedInterval,
  type ScoreThresholds,
} from '../../../canary/index.js'
import { judgeCheck } from '../checks/check.js'
import { comparedSides } from './compared-sides.js'
import { boundedRemarks } from '../../sources/answers/answers.js'
import type { NamedSpread } from './usual-spreads.js'
import { SAME_ON_BOTH_SIDES } from './interval-data.js'
import type { LinesData, LogData, IntervalData, MetricData, SeriesData, TargetData } from './interval-data.js'
import { judgedSeries } from './judged-series.js'
import { combineParts } from './interval-report.js'
import type { IntervalReport, TargetReport } from './interval-report.js'
import type { PlannedMetrics, PlannedTarget, RunPlan, PlannedLogs } from '../definitions/plan.js'
import { canaryWindow, intervalCount } from './schedule.js'

/** Maximum number of errors in a report: one for each side of 50 metrics. */
const MAX_ERRORS = 100

/** An interval as judged, with the templates of the log to remember. */
interface JudgedInterval {
  readonly report: IntervalReport
  readonly logTemplates: readonly string[]
}

/**
 * Judges the fetched data of an interval. The same plan and data give the same report; another
 * judge can be passed.
 */
export function judgeInterval(plan: RunPlan, data: IntervalData, judge = plan.judge): JudgedInterval {
  const intervals = intervalCount(plan.timing)
  const options: JudgeOptions = { judge, interval: { interval: data.look, intervals, after: data.after } }
  const targets = plan.targets.map((target, index) => judgeTarget(target, data, index, plan, options))
  const reports = targets.map(({ report }) => report)
  const errors = boundedRemarks(
    plan.targets.flatMap((target, index) => errorsOf(target, data.targets[index])),
    MAX_ERRORS,
  )
  const unanswered = plan.targets.flatMap((target, index) => unansweredParts(target, data.targets[index]))
  const isNothingKnown = reports.every(isUnknown)
  const report: IntervalReport = {
    ...{ look: data.look, looks: intervals, canaryWindow: canaryWindow(plan, data.look) },
    compared: comparedSides(plan, data.look, data.targets),
    ...withheld(combineParts(reports, plan.thresholds), plan, { errors, unanswered, isNothingKnown }),
    errors,
    targets: reports,
  }
  return { report, logTemplates: targets.flatMap(({ logTemplates }) => logTemplates) }
}

interface JudgedTarget {
  readonly report: TargetReport
  readonly logTemplates: readonly string[]
}

function judgeTarget(
  target: PlannedTarget,
  { targets, seenLogTemplates, usualSpreads = [] }: IntervalData,
  index: number,
  plan: RunPlan,
  options: JudgeOptions,
): JudgedTarget {
  const data = targets[index]
  const spreads = usualSpreads.filter((spread) => spread.target === target.name)
  const metrics =
    target.metrics &&
    judgeMetricData(target.metrics, { metrics: data?.metrics ?? [], spreads }, plan, options)
  const logs: JudgedLogs | undefined =
    target.logs &&
    data?.logs &&
    judgeLogData(target.logs, data.logs, plan.thresholds, seenLogTemplates, options.interval)
  return {
    report: {
      ...{ name: target.name, metrics, logs: logs?.report },
      ...(data?.checks && { checks: data.checks.map((check) => judgeCheck(check, plan.thresholds)) }),
    },
    logTemplates: logs?.templatesToRemember ?? [],
  }
}

function judgeMetricData(
  planned: PlannedMetrics,
  { metrics, spreads }: { readonly metrics: readonly MetricData[]; readonly spreads: readonly NamedSpread[] },
  { thresholds }: RunPlan,
  options: JudgeOptions,
): JudgeReport {
  const series = judgedSeries(planned.metrics, metrics, spreads)
  return judgeMetrics({ metrics: series, groupWeights: planned.groupWeights, thresholds }, options)
}

interface NamedSide {
  readonly what: string
  readonly side: SeriesData | LinesData
}

/** Problems of sources, combined for all queries that failed alike. */
function errorsOf({ name, metrics }: PlannedTarget, data: TargetData | undefined): string[] {
  const sides: NamedSide[] = [
    ...(data?.metrics ?? []).flatMap(({ baseline, canary, exposure }, index) => {
      const metric = metrics?.metrics[index]?.spec.name ?? 'metric'
      const both = (what: string, sides: Pick<MetricData, 'baseline' | 'canary'>): NamedSide[] => [
        { what: `${what}, baseline`, side: sides.baseline },
        { what: `${what}, canary`, side: sides.canary },
      ]
      return [
        ...both(metric, { baseline, canary }),
        ...(exposure === undefined ? [] : both(`exposure of ${metric}`, exposure)),
      ]
    }),
    ...(data?.logs === undefined
      ? []
      : [
          ...(data.logs.baseline === undefined ? [] : [{ what: 'log, baseline', side: data.logs.baseline }]),
          { what: 'log, canary', side: data.logs.canary },
        ]),
  ]
  const unanswered = sides.flatMap(({ what, side: { state, reasons } }) =>
    state === 'failed' || state === 'incomplete' ? [`${name}: ${what}: ${reasons.join('; ') || state}`] : [],
  )
  const same = (metrics?.metrics ?? []).filter(
    ({ spec }, index) => !spec.muted && data?.metrics?.[index]?.isSameOnBothSides === true,
  )
  const lost = (data?.checks ?? []).flatMap(({ name: check, problem }) =>
    problem === undefined ? [] : [`${name}: check ${check}: ${problem}`],
  )
  const { metrics: ofMetrics, logs: ofLogs } = data?.instances ?? {}
  const few = new Set([ofMetrics, ofLogs].flatMap((chosen) => chosen?.problems ?? []))
  return [
    ...[...few].map((problem) => `${name}: ${problem}`),
    ...unanswered,
    ...lost,
    ...same.map(({ spec }) => `${name}: ${spec.name}: ${SAME_ON_BOTH_SIDES}`),
  ]
}

/** The parts of a target without an answer on at least one side. */
function unansweredParts({ name }: PlannedTarget, data: TargetData | undefined): string[] {
  const { metrics = [], logs, checks = [] } = data ?? {}
  const isSilent = ({ baseline, canary, ...sides }: MetricData | LogData): boolean =>
    baseline?.state === 'failed' ||
    canary.state === 'failed' ||
    ('isSameOnBothSides' in sides && sides.isSameOnBothSides === true)
  return [
    ...(metrics.length > 0 && metrics.every(isSilent) ? [`the metrics of ${name}`] : []),
    ...(logs !== undefined && isSilent(logs) ? [`the log of ${name}`] : []),
    ...checks.flatMap(({ name: check, problem }) =>
      problem === undefined ? [] : [`the check ${check} of ${name}`],
    ),
  ]
}

/** Whether none of its parts has been judged. */
function isUnknown({ metrics, logs, checks = [] }: TargetReport): boolean {
  return (metrics ?? logs) === undefined && checks.every(({ isUnanswered }) => isUnanswered)
}

/** The unknown parts of an interval. */
interface Missing {
  readonly errors: readonly string[]
  readonly unanswered: readonly string[]
  readonly isNothingKnown: boolean
}

type Combined = ReturnType<typeof combineParts>

/**
 * An incomplete interval cannot be a success, and an unknown part is a failure, since some clients
 * accept a review.
 */
function withheld(
  combined: Combined,
  { thresholds }: RunPlan,
  { errors, unanswered, isNothingKnown }: Missing,
): Combined & Pick<IntervalReport, 'isUnanswered'> {
  const more = errors.length > 1 ? ` and ${errors.length - 1} more` : ''
  const because = `(${errors[0] ?? ''}${more})`
  if ((combined.verdict !== 'Fail' || isNothingKnown) && unanswered.length > 0) {
    const reason = `No answer from the source for ${unanswered.join(', ')} ${because}`
    const unscored = 'no answer from the source'
    return { ...combined, score: 0, unscored, verdict: 'Fail', reason, isUnanswered: true }
  }
  if (combined.verdict !== 'Success' || errors.length === 0) return { ...combined, isUnanswered: false }
  const score = Math.max(0, Math.min(combined.score, Math.ceil(thresholds.pass) - 1))
  const reason = `Some data is missing ${because}`
  return { ...combined, score, verdict: 'Review', reason, isUnanswered: false }
}

/** Judges the fetched lines of an interval by the template of the log. */
function judgeLogData(
  { template }: PlannedLogs,
  { baseline, canary }: LogData,
  thresholds: ScoreThresholds,
  seenTemplates: readonly string[],
  interval: PlannedInterval | undefined,
): JudgedLogs {
  const input = {
    baseline: baseline && toLogSide(baseline),
    canary: toLogSide(canary),
    seenTemplates,
    thresholds,
  }
  return judgeLogs(input, logJudgeOptions(template, interval))
}

function toLogSide({ startMs, coveredUntilMs, isTruncated, lines }: LinesData): LogSide {
  return {
    lines: {
      length: lines.length,
      // One after another, since all of them at once take hundreds of megabytes.
      *[Symbol.iterator]() {
        for (const [sinceMs, text] of lines) {
          yield { atMs: sinceMs === null ? Number.NaN : startMs + sinceMs, text }
        }
      },
    },
    startMs,
    endMs: coveredUntilMs,
    isTruncated,
  }
}
