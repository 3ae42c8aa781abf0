import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import type { IntervalReport } from '../../analysis/runs/intervals/interval-report.js'
import type { StoredRun, Verdict } from '../../store/ports/analysis-store.js'
import type { ServiceMetrics } from './service-metrics.js'

/** Applications that have series of their own: those that were judged last. */
const MAX_APPLICATIONS = 100
/** Metrics of one that have, the first of its definition; as many checks may. */
const MAX_METRICS = 50
const VERDICTS: readonly Verdict[] = ['Success', 'Review', 'Fail']
/** Of a check of which nothing is known. */
const NO_ANSWER = 'noAnswer'
const CHECK_OUTCOMES = [...VERDICTS, NO_ANSWER] as const
const INTERVALS = 'tidegate_analysis_intervals_total'
const INTERVAL_SCORE = 'tidegate_analysis_interval_score'
const SCORES = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100]

type Judged = Pick<IntervalReport, 'score' | 'verdict' | 'targets'>

/** What is shown of the last interval of an application. */
interface LastInterval {
  readonly score: number
  readonly verdict: Verdict
  readonly metrics: readonly JudgedMetric[]
  readonly checks: readonly JudgedCheck[]
}

/** Adds what analyses find to the figures; returns what is to be told of each interval. */
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
    help: 'Intervals of analyses that this process judged, by verdict.',
    labelNames: ['verdict'],
    registers,
  })
  const scores = new Histogram({
    name: INTERVAL_SCORE,
    help: 'The scores of the intervals of analyses that this process judged, 0 to 100.',
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
    help: `The score of the interval of an application's analysis that was judged last, 0 to 100; of the last ${MAX_APPLICATIONS} applications.`,
    labelNames: ['application'],
    registers,
    collect() {
      this.reset()
      for (const [application, { score }] of last) this.set({ application }, score)
    },
  })
  new Gauge({
    name: 'tidegate_analysis_verdict',
    help: 'The verdict of that interval: 1 for the one that it had, 0 for the others.',
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
    help: `The change of a metric of the canary against its baseline in that interval, as a share; of the first ${MAX_METRICS} metrics of an application.`,
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
    help: 'The mean of the values of such a metric in that interval, by side; left out where a side has none.',
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
    help: 'What a check by a rule came to in that interval: 1 for its verdict or for noAnswer, 0 for the others.',
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
    help: 'The score of such a check, 0 to 100; left out where there was no answer.',
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
  /** By side. */
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
