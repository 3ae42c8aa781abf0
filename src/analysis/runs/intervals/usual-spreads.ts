import { group, median } from 'd3-array'

import type { ReadOperation } from '../../../store/ports/readers.js'
import type { UsualSpread } from '../../../canary/index.js'
import type { IntervalReport } from './interval-report.js'

/** Maximum number of former runs. Older runs tested versions that differ too much. */
const MAX_RUNS = 30
/** The factor from a median of sizes to the standard deviation, for normal values. */
const DEVIATIONS_A_MEDIAN = 1.4826

/** How far both sides of a metric usually lie apart, by target and metric. */
export interface NamedSpread extends UsualSpread {
  readonly target: string
  readonly metric: string
}

/**
 * The distance between both sides of an application's metrics at the ends of its last runs,
 * whatever their verdicts: a few worse releases do not change the median.
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
