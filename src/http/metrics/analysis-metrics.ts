import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import type { IntervalReport } from '../../analysis/runs/intervals/interval-report.js'
import type { StoredRun, Verdict } from '../../store/ports/analysis-store.js'
import type { ServiceMetrics } from './service-metrics.js'

/** Maximum applications with their own series: the most recently judged. */
const MAX_APPLICATIONS = 100
/**
 * Maximum metrics per application with their own series, in the order of the definition. The same
 * limit applies to checks.
 */
const MAX_METRICS = 50
const VERDICTS: readonly Verdict[] = ['Success', 'Review', 'Fail']
/** Outcome of a check without an answer. */
const NO_ANSWER = 'noAnswer'
const CHECK_OUTCOMES = [...VERDICTS, NO_ANSWER] as const
const INTERVALS = 'tidegate_analysis_intervals_total'
const INTERVAL_SCORE = 'tidegate_analysis_interval_score'
const SCORES = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100]

type Judged = Pick<IntervalReport, 'score' | 'verdict' | 'targets'>

/** Results of an application's last interval. */
interface LastInterval {
  readonly score: number
  readonly verdict: Verdict
  readonly metrics: readonly JudgedMetric[]
  readonly checks: readonly JudgedCheck[]
}

/** Registers the metrics of analyses. Returns the function that records an interval. */
export function makeAnalysisMetrics({
  registry,
  exemplars,
}: Pick<ServiceMetrics, 'registry' | 'exemplars'>): (
  run: Pick<StoredRun, 'id' | 'application'>,
  report: Judged,
) => void {
  const registers = [registry]
  const intervals = new Counter({
    name: INTERVALS,
    help: 'Intervals judged by this process, by verdict.',
    labelNames: ['verdict'],
    registers,
  })
  const scores = new Histogram({
    name: INTERVAL_SCORE,
    help: 'Scores of intervals judged by this process, 0 to 100.',
    buckets: SCORES,
    registers,
  })
  const last = new Map<string, LastInterval>()
  addRunGauges(registers, last)
  addMetricGauges(registers, last)
  addCheckGauges(registers, last)
  return ({ id, application }, { score, verdict, targets }) => {
    intervals.inc({ verdict })
    scores.observe(score)
    const told = { labels: { run: String(id) }, atMs: Date.now() }
    exemplars.keep(INTERVALS, { verdict }, { ...told, value: 1 })
    const bucket = SCORES.find((bound) => score <= bound) ?? '+Inf'
    exemplars.keep(`${INTERVAL_SCORE}_bucket`, { le: bucket }, { ...told, value: score })
    last.delete(application)
    last.set(application, { score, verdict, metrics: metricsOf(targets), checks: checksOf(targets) })
    const [oldest] = last.keys()
    if (last.size > MAX_APPLICATIONS && oldest !== undefined) last.delete(oldest)
  }
}

function addRunGauges(registers: Registry[], last: ReadonlyMap<string, LastInterval>): void {
  new Gauge({
    name: 'tidegate_analysis_score',
    help: `Score of an application's last interval, 0 to 100, for the last ${MAX_APPLICATIONS} applications.`,
    labelNames: ['application'],
    registers,
    collect() {
      this.reset()
      for (const [application, { score }] of last) this.set({ application }, score)
    },
  })
  new Gauge({
    name: 'tidegate_analysis_verdict',
    help: "Verdict of an application's last interval: 1 for its verdict, 0 for the others.",
    labelNames: ['application', 'verdict'],
    registers,
    collect() {
      this.reset()
      for (const [application, interval] of last) {
        for (const verdict of VERDICTS)
          this.set({ application, verdict }, Number(interval.verdict === verdict))
      }
    },
  })
}

function addMetricGauges(registers: Registry[], last: ReadonlyMap<string, LastInterval>): void {
  new Gauge({
    name: 'tidegate_analysis_metric_change',
    help: `Change of a metric against the baseline in the last interval, as a share, for the first ${MAX_METRICS} metrics of an application.`,
    labelNames: ['application', 'target', 'metric'],
    registers,
    collect() {
      this.reset()
      for (const [application, { metrics }] of last) {
        for (const { change, target, metric } of metrics) {
          if (change !== undefined) this.set({ application, target, metric }, change)
        }
      }
    },
  })
  new Gauge({
    name: 'tidegate_analysis_metric_value',
    help: 'Mean of a metric in the last interval, by side. Absent for a side without values.',
    labelNames: ['application', 'target', 'metric', 'side'],
    registers,
    collect() {
      this.reset()
      for (const [application, { metrics }] of last) {
        for (const { target, metric, means } of metrics) {
          for (const [side, mean] of means) this.set({ application, target, metric, side }, mean)
        }
      }
    },
  })
}

function addCheckGauges(registers: Registry[], last: ReadonlyMap<string, LastInterval>): void {
  new Gauge({
    name: 'tidegate_analysis_check_verdict',
    help: 'Outcome of a check in the last interval: 1 for its verdict or noAnswer, 0 for the others.',
    labelNames: ['application', 'target', 'check', 'verdict'],
    registers,
    collect() {
      this.reset()
      for (const [application, { checks }] of last) {
        for (const { target, check, outcome } of checks) {
          for (const verdict of CHECK_OUTCOMES)
            this.set({ application, target, check, verdict }, Number(outcome === verdict))
        }
      }
    },
  })
  new Gauge({
    name: 'tidegate_analysis_check_score',
    help: 'Score of a check in the last interval, 0 to 100. Absent without an answer.',
    labelNames: ['application', 'target', 'check'],
    registers,
    collect() {
      this.reset()
      for (const [application, { checks }] of last) {
        for (const { target, check, outcome, score } of checks) {
          if (outcome !== NO_ANSWER) this.set({ application, target, check }, score)
        }
      }
    },
  })
}

interface JudgedCheck {
  readonly target: string
  readonly check: string
  readonly outcome: Verdict | typeof NO_ANSWER
  readonly score: number
}

function checksOf(targets: IntervalReport['targets']): readonly JudgedCheck[] {
  return targets
    .flatMap(({ name: target, checks = [] }) =>
      checks.map(({ name: check, verdict, score, isUnanswered }): JudgedCheck => ({
        ...{ target, check, score },
        outcome: isUnanswered ? NO_ANSWER : verdict,
      })),
    )
    .slice(0, MAX_METRICS)
}

interface JudgedMetric {
  readonly target: string
  readonly metric: string
  readonly change: number | undefined
  readonly means: readonly (readonly [string, number])[]
}

function metricsOf(targets: IntervalReport['targets']): readonly JudgedMetric[] {
  return targets
    .flatMap(({ name: target, metrics }) =>
      (metrics?.results ?? []).map(({ name: metric, finding, controlStats, experimentStats }) => {
        const estimate = finding?.relative?.estimate
        const change = estimate !== undefined && Number.isFinite(estimate) ? estimate : undefined
        const sides = [
          ['baseline', controlStats],
          ['canary', experimentStats],
        ] as const
        const means = sides.flatMap(([side, { count, mean }]) => (count > 0 ? [[side, mean] as const] : []))
        return { target, metric, change, means }
      }),
    )
    .slice(0, MAX_METRICS)
}
