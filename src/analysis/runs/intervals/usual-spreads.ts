import { group, median } from 'd3-array'

import type { ReadOperation } from '../../../store/ports/readers.js'
import type { UsualSpread } from '../../../canary/index.js'
import type { IntervalReport } from './interval-report.js'

/** So many runs back; older ones were of another service, in effect. */
const MAX_RUNS = 30
/** Of normal values, what a median of sizes is to be multiplied with for their standard deviation. */
const DEVIATIONS_A_MEDIAN = 1.4826

/** How far both sides of a metric usually lie apart, by target and metric. */
export interface NamedSpread extends UsualSpread {
  readonly target: string
  readonly metric: string
}

/**
 * How far both sides of an application's metrics lay apart at the ends of its last runs, whatever their verdicts: the median is not moved by the few
 * in which a release was worse.
 */
export const listUsualSpreads: ReadOperation<string, readonly NamedSpread[]> = {
  name: 'analysis.usual-spreads',
  apply: async ({ analysis }, application) => {
    const runs = await analysis.runs({ application, state: 'COMPLETED', limit: MAX_RUNS })
    const changes: ChangeOfRun[] = []
    for (const { id, intervalsDone } of runs) {
      const last = await analysis.interval(id, intervalsDone)
      if (last !== undefined) changes.push(...changesOf(JSON.parse(last.report) as IntervalReport))
    }
    return spreadsOf(changes)
  },
}

interface ChangeOfRun {
  readonly target: string
  readonly metric: string
  readonly size: number
}

function changesOf({ targets }: IntervalReport): ChangeOfRun[] {
  return targets.flatMap(({ name, metrics }) =>
    (metrics?.results ?? []).flatMap(({ name: metric, finding }) => {
      const change = finding?.distanceFrom === undefined ? finding?.relative?.estimate : undefined
      return change === undefined ? [] : [{ target: name, metric, size: Math.abs(change) }]
    }),
  )
}

function spreadsOf(changes: readonly ChangeOfRun[]): readonly NamedSpread[] {
  return [...group(changes, ({ target, metric }) => JSON.stringify([target, metric])).values()].flatMap(
    (of) => {
      const [first] = of
      if (first === undefined) return []
      const deviation = DEVIATIONS_A_MEDIAN * (median(of, ({ size }) => size) ?? 0)
      return [{ target: first.target, metric: first.metric, runs: of.length, deviation }]
    },
  )
}
