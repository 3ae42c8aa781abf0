import type { AnalysisSource } from '../../sources/make-sources.js'
import { failedLines, failedSeries } from '../../sources/answers/answers.js'
import { stepGrid } from '../../sources/answers/step-grid.js'
import type {
  FetchBudget,
  LineFilter,
  LogSource,
  MetricSource,
  Scope,
  SeriesAggregate,
  TimeWindow,
  DocumentAnswer,
  DocumentSource,
} from '../../sources.js'
import { NO_RULES } from '../checks/check.js'
import type { EvaluateRule, CheckData } from '../checks/check.js'
import { chooseInstances, withInstances } from './choose-instances.js'
import type { ChoiceContext, ChosenInstances } from './choose-instances.js'
import { SAME_ON_BOTH_SIDES, joinTimes, toLinesData, toSeriesData } from './interval-data.js'
import type { LinesData, LogData, MetricData, SeriesData, TargetData } from './interval-data.js'
import type {
  PlannedLogs,
  PlannedMetric,
  PlannedMetrics,
  PlannedSide,
  PlannedSides,
  RunPlan,
  Timing,
  PlannedCheck,
  PlannedChecks,
} from '../definitions/plan.js'
import { intervalWindow } from './schedule.js'
import { redactWords } from '../../../lib/redaction/redact-text.js'

const MAX_SCORE = 100

/** Maximum length of an invalid value in a message. */
const MAX_SHOWN = 100

/** Maximum number of concurrent queries of an interval, to protect its source. */
const CONCURRENCY = 4

export type Sources = ReadonlyMap<string, AnalysisSource>

/** The remaining budget of all queries of an interval together. */
export type RemainingBudget = () => FetchBudget

/**
 * Fetches the data of an interval, both sides at the same time. Never rejects: problems are part of
 * the data.
 */
export async function fetchInterval(
  plan: RunPlan,
  interval: number,
  sources: Sources,
  remaining: RemainingBudget,
  evaluateRule: EvaluateRule = NO_RULES,
): Promise<readonly TargetData[]> {
  const { application, timing } = plan
  const targets: TargetData[] = []
  const windowOf = (side: PlannedSide): TimeWindow => intervalWindow(timing, side, interval)
  const source = sources.get(plan.instances?.source ?? '')?.instances
  const choose = chooserOf(plan, { source, remaining, windowOf })
  for (const { name, metrics, logs, checks } of plan.targets) {
    const context = { application, service: name, sources, remaining, windowOf, evaluateRule }
    const ofMetrics = metrics && (await choose(metrics))
    const ofLogs = logs && (await choose(logs))
    const instances = { ...(ofMetrics && { metrics: ofMetrics }), ...(ofLogs && { logs: ofLogs }) }
    targets.push({
      metrics:
        metrics &&
        (await fetchMetrics(withInstances(metrics, ofMetrics), timing, interval, sources, remaining)),
      logs: logs && (await fetchLogs(withInstances(logs, ofLogs), timing, interval, sources, remaining)),
      ...(checks && { checks: await fetchChecks(checks, context) }),
      ...((ofMetrics ?? ofLogs) && { instances }),
    })
  }
  return targets
}

/** Chooses the instances of sides, once for metrics and logs of the same scopes and windows. */
function chooserOf(
  { instances: planned, timing: { stepMs } }: RunPlan,
  context: Omit<ChoiceContext, 'planned' | 'stepMs'>,
): (sides: PlannedSides) => Promise<ChosenInstances | undefined> {
  const known = new Map<string, ChosenInstances>()
  return async ({ baseline, canary }) => {
    if (planned === undefined) return undefined
    const key = JSON.stringify([baseline, canary])
    const chosen =
      known.get(key) ?? (await chooseInstances({ baseline, canary }, { ...context, planned, stepMs }))
    known.set(key, chosen)
    return chosen
  }
}

async function fetchMetrics(
  planned: PlannedMetrics,
  timing: Timing,
  interval: number,
  sources: Sources,
  remaining: RemainingBudget,
): Promise<readonly MetricData[]> {
  const source = sources.get(planned.source)?.metrics ?? missingMetricSource(planned.source)
  const fetchBoth = async (query: string, own?: SeriesAggregate): Promise<MetricData> => {
    const fetchSide = async (side: PlannedSide): Promise<SeriesData> => {
      const { aggregate = own } = planned
      const request = { query, scope: side.scope, stepMs: timing.stepMs, aggregate }
      return toSeriesData(
        await source.fetchSeries({ ...request, ...intervalWindow(timing, side, interval) }, remaining()),
      )
    }
    const fetchTimes = async (side: PlannedSide): Promise<SeriesData> => {
      const { times = 0, offsetMs = 0 } = planned.earlier ?? {}
      const latest = await fetchSide(side)
      if (times === 0) return latest
      const fetched = [latest]
      for (let time = 1; time <= times; time += 1)
        fetched.push(await fetchSide({ ...side, startMs: side.startMs - time * offsetMs }))
      return joinTimes(fetched)
    }
    const [baseline, canary] = await Promise.all([fetchTimes(planned.baseline), fetchSide(planned.canary)])
    const question = (side: PlannedSide): Question => ({
      ...{ query, scope: side.scope, window: intervalWindow(timing, side, interval) },
    })
    const isSame = isSameQuestion(question(planned.baseline), question(planned.canary))
    return { baseline, canary, ...(isSame && { isSameOnBothSides: true }) }
  }
  const fetchOne = async ({ query, exposureQuery, aggregate }: PlannedMetric): Promise<MetricData> => {
    const values = await fetchBoth(query, aggregate)
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
  interval: number,
  sources: Sources,
  remaining: RemainingBudget,
): Promise<LogData> {
  const source = sources.get(planned.source)?.logs ?? missingLogSource(planned.source)
  const { query, index, maxLines, template } = planned
  const messageField = template.responseKeywords
  const questionOf = ({ scope, ...side }: PlannedSide): Question => ({
    ...{ query, scope, filters: filtersOf(template.filterKey, scope) },
    window: intervalWindow(timing, { scope, ...side }, interval),
  })
  const fetchSide = async (side: PlannedSide): Promise<LinesData> => {
    const { window, scope, filters } = questionOf(side)
    const limits = maxLines === undefined ? undefined : { maxLines }
    const answer = await source.fetchLines(
      { query, index, messageField, filters, limits, scope, ...window },
      remaining(),
    )
    return toLinesData(answer, window.startMs)
  }
  if (template.scoringAlgorithm === 'autonomous') {
    return { baseline: undefined, canary: await fetchSide(planned.canary) }
  }
  const [baseline, canary] = [questionOf(planned.baseline), questionOf(planned.canary)]
  if (isSameQuestion(baseline, canary)) {
    const refused = ({ window }: Question): LinesData =>
      toLinesData(failedLines(query, window, SAME_ON_BOTH_SIDES), window.startMs)
    return { baseline: refused(baseline), canary: refused(canary) }
  }
  const [before, now] = await Promise.all([fetchSide(planned.baseline), fetchSide(planned.canary)])
  return { baseline: before, canary: now }
}

/** The scope and window of a side's query. */
interface Question {
  readonly query: string
  readonly scope: Scope
  readonly window: TimeWindow
  readonly filters?: readonly LineFilter[] | undefined
}

const PLACEHOLDER = /\$\{([^{}]*)\}/g

/** Whether both sides send the same query with the same scope values for windows that overlap. */
function isSameQuestion(one: Question, other: Question): boolean {
  const filled = ({ query, scope }: Question): string =>
    query.replace(PLACEHOLDER, (whole, name: string) => scope[name] ?? whole)
  const isOverlapping = one.window.startMs < other.window.endMs && other.window.startMs < one.window.endMs
  const isFilteredAlike = JSON.stringify(one.filters) === JSON.stringify(other.filters)
  return isOverlapping && isFilteredAlike && filled(one) === filled(other)
}

/**
 * The instances of a side by the field that the template names. A value that ends with a star is a
 * prefix.
 */
function filtersOf(filterKey: string | undefined, scope: Scope): readonly LineFilter[] | undefined {
  const value = filterKey === undefined ? undefined : scope[filterKey]
  if (filterKey === undefined || value === undefined) return undefined
  const isPrefix = value.endsWith('*')
  // Clients write a pattern, `.*canary.*`, but a source only accepts a prefix.
  const bare = value.replace(/^\.\*/, '').replace(/\.?\*$/, '')
  return [{ field: filterKey, value: bare, match: isPrefix ? 'prefix' : 'exact' }]
}

/** For a source that the plan names but the configuration no longer has after a restart. */
function missingMetricSource(name: string): MetricSource {
  return {
    fetchSeries: (query) =>
      Promise.resolve(failedSeries(query.query, stepGrid(query, query.stepMs), missing(name, 'metrics'))),
  }
}

function missingLogSource(name: string): LogSource {
  return {
    fetchLines: (query) => Promise.resolve(failedLines(query.query, query, missing(name, 'log lines'))),
  }
}

function missing(name: string, what: string): string {
  return `analysis.sources has no source ${name} of ${what}`
}

/** The context of checks, in addition to their documents. */
interface CheckContext {
  readonly application: string
  readonly service: string
  readonly sources: ReadonlyMap<string, AnalysisSource>
  readonly remaining: () => FetchBudget
  readonly windowOf: (side: PlannedSide) => { readonly startMs: number; readonly endMs: number }
  readonly evaluateRule: EvaluateRule
}

/**
 * Fetches the documents of each check and evaluates its rule. Never rejects: problems are part of
 * the data.
 */
async function fetchChecks(planned: PlannedChecks, context: CheckContext): Promise<readonly CheckData[]> {
  const fetched: CheckData[] = []
  for (const check of planned.checks) fetched.push(await fetchCheck(check, planned, context))
  return fetched
}

async function fetchCheck(
  { name, source: sourceName, query, rule }: PlannedCheck,
  { baseline, canary }: PlannedChecks,
  context: CheckContext,
): Promise<CheckData> {
  const about = { name, rule }
  const source = context.sources.get(sourceName)?.documents
  if (source === undefined) {
    const problem = `analysis.sources has no source ${sourceName} of documents (type web)`
    return { ...about, queries: { baseline: query, canary: query }, problem }
  }
  const fetchSide = (side: PlannedSide): ReturnType<DocumentSource['fetchDocument']> =>
    source.fetchDocument({ query, scope: side.scope, ...context.windowOf(side) }, context.remaining())
  const [before, now] = await Promise.all([fetchSide(baseline), fetchSide(canary)])
  const queries = { baseline: redactWords(before.query), canary: redactWords(now.query) }
  const lost = problemOf('canary', now) ?? problemOf('baseline', before)
  if (lost !== undefined) return { ...about, queries, problem: lost }
  const input = {
    ...{ application: context.application, service: context.service },
    baseline: sideInput(baseline, before, context),
    canary: sideInput(canary, now, context),
  }
  return { ...about, queries, ...(await valueOf(rule, input, context.evaluateRule)) }
}

function problemOf(side: string, answer: DocumentAnswer): string | undefined {
  return 'problem' in answer ? redactWords(`${side}: ${answer.problem}`) : undefined
}

function sideInput(side: PlannedSide, answer: DocumentAnswer, { windowOf }: CheckContext): object {
  return { document: 'document' in answer ? answer.document : null, scope: side.scope, ...windowOf(side) }
}

/** Accepts a boolean or a score. An undefined rule has no value. */
async function valueOf(
  rule: string,
  input: object,
  evaluateRule: EvaluateRule,
): Promise<Pick<CheckData, 'value' | 'problem'>> {
  const answer = await evaluateRule(rule, input)
  if ('problem' in answer) return { problem: redactWords(`the rule ${rule} ${answer.problem}`) }
  const { value } = answer
  if (typeof value === 'boolean') return { value }
  if (typeof value === 'number' && value >= 0 && value <= MAX_SCORE) return { value }
  const shown = redactWords(shownValue(value))
  return {
    problem: `the rule ${rule} is ${shown}: it must be true, false, or a score from 0 to ${MAX_SCORE}`,
  }
}

function shownValue(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, MAX_SHOWN)
}
