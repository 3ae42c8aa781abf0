import type { AnalysisSource } from '../../sources/make-sources.js'
import { failedLines, failedSeries } from '../../sources/answers/answers.js'
import { stepGrid } from '../../sources/answers/step-grid.js'
import type { FetchBudget, LineFilter, LogSource, MetricSource, Scope } from '../../sources.js'
import { toLinesData, toSeriesData } from './look-data.js'
import type { LinesData, LogData, MetricData, SeriesData, TargetData } from './look-data.js'
import type {
  PlannedLogs,
  PlannedMetric,
  PlannedMetrics,
  PlannedSide,
  RunPlan,
  Timing,
} from '../definitions/plan.js'
import { lookWindow } from './schedule.js'

/** So many queries at a time: a look must not be a storm for its source. */
const CONCURRENCY = 4

export type Sources = ReadonlyMap<string, AnalysisSource>

/** What is left of the time for all queries of a look together. */
export type RemainingBudget = () => FetchBudget

/** Fetches what a look needs, both sides at the same time. Never rejects: what goes wrong is part of the data. */
export async function fetchLook(
  plan: RunPlan,
  look: number,
  sources: Sources,
  remaining: RemainingBudget,
): Promise<readonly TargetData[]> {
  const targets: TargetData[] = []
  for (const { metrics, logs } of plan.targets) {
    targets.push({
      metrics: metrics && (await fetchMetrics(metrics, plan.timing, look, sources, remaining)),
      logs: logs && (await fetchLogs(logs, plan.timing, look, sources, remaining)),
    })
  }
  return targets
}

async function fetchMetrics(
  planned: PlannedMetrics,
  timing: Timing,
  look: number,
  sources: Sources,
  remaining: RemainingBudget,
): Promise<readonly MetricData[]> {
  const source = sources.get(planned.source)?.metrics ?? missingMetricSource(planned.source)
  const fetchBoth = async (query: string): Promise<MetricData> => {
    const fetchSide = async (side: PlannedSide): Promise<SeriesData> => {
      const { aggregate } = planned
      const request = { query, scope: side.scope, stepMs: timing.stepMs, aggregate }
      return toSeriesData(
        await source.fetchSeries({ ...request, ...lookWindow(timing, side, look) }, remaining()),
      )
    }
    const [baseline, canary] = await Promise.all([fetchSide(planned.baseline), fetchSide(planned.canary)])
    return { baseline, canary }
  }
  const fetchOne = async ({ query, exposureQuery }: PlannedMetric): Promise<MetricData> => {
    const values = await fetchBoth(query)
    return exposureQuery === undefined ? values : { ...values, exposure: await fetchBoth(exposureQuery) }
  }
  const fetched: MetricData[] = []
  for (let first = 0; first < planned.metrics.length; first += CONCURRENCY) {
    fetched.push(...(await Promise.all(planned.metrics.slice(first, first + CONCURRENCY).map(fetchOne))))
  }
  return fetched
}

async function fetchLogs(
  planned: PlannedLogs,
  timing: Timing,
  look: number,
  sources: Sources,
  remaining: RemainingBudget,
): Promise<LogData> {
  const source = sources.get(planned.source)?.logs ?? missingLogSource(planned.source)
  const { query, index, maxLines, template } = planned
  const messageField = template.responseKeywords
  const fetchSide = async (side: PlannedSide): Promise<LinesData> => {
    const window = lookWindow(timing, side, look)
    const limits = maxLines === undefined ? undefined : { maxLines }
    const { scope } = side
    const filters = filtersOf(template.filterKey, scope)
    const answer = await source.fetchLines(
      { query, index, messageField, filters, limits, scope, ...window },
      remaining(),
    )
    return toLinesData(answer, window.startMs)
  }
  const isAlone = template.scoringAlgorithm === 'autonomous'
  const [baseline, canary] = await Promise.all([
    isAlone ? undefined : fetchSide(planned.baseline),
    fetchSide(planned.canary),
  ])
  return { baseline, canary }
}

/** The instances of a side by the field that the template names; a value that ends in a star is the start of their names. */
function filtersOf(filterKey: string | undefined, scope: Scope): readonly LineFilter[] | undefined {
  const value = filterKey === undefined ? undefined : scope[filterKey]
  if (filterKey === undefined || value === undefined) return undefined
  const isPrefix = value.endsWith('*')
  // Clients write a pattern, `.*canary.*`, where a source takes only the start of a name.
  const bare = value.replace(/^\.\*/, '').replace(/\.?\*$/, '')
  return [{ field: filterKey, value: bare, match: isPrefix ? 'prefix' : 'exact' }]
}

/** A restart may have taken a source away that the plan still names. */
function missingMetricSource(name: string): MetricSource {
  return {
    fetchSeries: (asked) =>
      Promise.resolve(failedSeries(asked.query, stepGrid(asked, asked.stepMs), missing(name, 'metrics'))),
  }
}

function missingLogSource(name: string): LogSource {
  return {
    fetchLines: (asked) => Promise.resolve(failedLines(asked.query, asked, missing(name, 'log lines'))),
  }
}

function missing(name: string, what: string): string {
  return `analysis.sources has no source ${name} of ${what}`
}
