import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

import type { IntervalReport } from '../../../analysis/runs/intervals/interval-report.js'

/** Applications that have series of their own: those that were judged last. */
const MAX_APPLICATIONS = 100
/** Metrics of one that have, the first of its definition. */
const MAX_METRICS = 50

/** Adds what analyses find to the figures; returns what is to be told of each interval. */
export function makeAnalysisMetrics(
  registry: Registry,
): (application: string, report: Pick<IntervalReport, 'score' | 'verdict' | 'targets'>) => void {
  const registers = [registry]
  const intervals = new Counter({
    name: 'tidegate_analysis_intervals_total',
    help: 'Intervals of analyses that this process judged, by verdict.',
    labelNames: ['verdict'],
    registers,
  })
  const last = new Map<string, { readonly score: number; readonly changes: readonly ChangeOfMetric[] }>()
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
    name: 'tidegate_analysis_metric_change',
    help: `The change of a metric of the canary against its baseline in that interval, as a share; of the first ${MAX_METRICS} metrics of an application.`,
    labelNames: ['application', 'target', 'metric'],
    registers,
    collect() {
      this.reset()
      for (const [application, { changes }] of last) {
        for (const { change, ...labels } of changes) this.set({ application, ...labels }, change)
      }
    },
  })
  return (application, { score, verdict, targets }) => {
    intervals.inc({ verdict })
    last.delete(application)
    last.set(application, { score, changes: changesOf(targets) })
    const [oldest] = last.keys()
    if (last.size > MAX_APPLICATIONS && oldest !== undefined) last.delete(oldest)
  }
}

interface ChangeOfMetric {
  readonly target: string
  readonly metric: string
  readonly change: number
}

function changesOf(targets: IntervalReport['targets']): readonly ChangeOfMetric[] {
  return targets
    .flatMap(({ name: target, metrics }) =>
      (metrics?.results ?? []).flatMap(({ name: metric, finding }) => {
        const change = finding?.relative?.estimate
        return change === undefined || !Number.isFinite(change) ? [] : [{ target, metric, change }]
      }),
    )
    .slice(0, MAX_METRICS)
}
