import { AppError } from '../../../errors/app-error.js'
import type { LogTemplate, ScoreThresholds } from '../../../canary/index.js'
import type { Scope } from '../../sources.js'
import { MAX_INTERVALS } from './definition.js'
import type { AnalysisDefinition } from './definition.js'
import type { MetricTemplate } from './metric-template.js'
import type {
  PlannedLogs,
  PlannedMetric,
  PlannedMetrics,
  PlannedSide,
  PlannedSides,
  PlannedTarget,
  RunPlan,
  Timing,
} from './plan.js'
import { NO_SCOPES } from './registration.js'
import type { Registration, SideScopes, TargetRequest } from './registration.js'
import { withScopeFilters } from './scope-filters.js'

const MS_PER_MINUTE = 60_000
const MS_PER_SECOND = 1000
const MAX_SERVICES = 500
/**
 * Maximum number of metrics. With two queries each, four at a time, more could not be queried
 * within an interval of four minutes.
 */
const MAX_METRICS = 5000
/** Default thresholds, as in the analysis stages (analysis.md, section 5). */
const DEFAULT_THRESHOLDS: ScoreThresholds = { pass: 90, marginal: 70 }

/** The templates for a plan, already read, by name and SHA-1, or the definition's own. */
export interface PlanTemplates {
  readonly metrics: (request: SideScopes | undefined) => MetricTemplate | undefined
  readonly logs: (request: SideScopes | undefined) => LogTemplate | undefined
  /** Thresholds of the canary config in the definition, if any. */
  readonly thresholds: ScoreThresholds | undefined
  /** The stores of metrics that the queries of that config say to be of. */
  readonly queryTypes: readonly string[]
}

export interface PlanRequest {
  readonly registration: Registration
  readonly definition: AnalysisDefinition
  readonly templates: PlanTemplates
  readonly nowMs: number
}

/**
 * Makes the plan of a run. Raises `conflict` if the definition has nothing that the registration
 * requests.
 */
export function makePlan(planRequest: PlanRequest): RunPlan {
  const { registration, definition, templates, nowMs } = planRequest
  const timing = makeTiming(registration, definition, startOf(registration, nowMs))
  const requests = registration.targets.length > 0 ? registration.targets : [wholeApplication(registration)]
  if (requests.length > MAX_SERVICES) {
    throw new AppError(
      'invalid',
      `the registration names ${requests.length} services, more than ${MAX_SERVICES}: register fewer at a time`,
    )
  }
  const targets = requests
    .map((request) => planTarget(request, planRequest))
    .filter(({ metrics, logs, checks }) => (metrics ?? logs ?? checks) !== undefined)
  if (targets.length === 0) {
    throw new AppError(
      'conflict',
      `the analysis of ${registration.application} has no metrics, logs or checks for this request: name a source and a template in its definition`,
    )
  }
  refuseTooManyMetrics(targets)
  return {
    application: registration.application,
    owner: registration.owner ?? '',
    judge: definition.judge,
    timing,
    thresholds: makeThresholds(registration, definition, templates),
    ...(definition.instances !== undefined && { instances: definition.instances }),
    targets,
  }
}

function refuseTooManyMetrics(targets: readonly PlannedTarget[]): void {
  const metrics = targets.reduce((sum, target) => sum + (target.metrics?.metrics.length ?? 0), 0)
  if (metrics <= MAX_METRICS) return
  throw new AppError(
    'invalid',
    `the analysis has ${metrics} metrics in all services together, more than ${MAX_METRICS}: register fewer services at a time, or shorten the template`,
  )
}

/** Without deployments the definition's own scopes say what is compared. */
function wholeApplication({ application }: Registration): TargetRequest {
  return {
    service: application,
    baselineStartMs: undefined,
    canaryStartMs: undefined,
    metric: NO_SCOPES,
    log: NO_SCOPES,
  }
}

/**
 * The lifetime counts from the start of the data, and past intervals are judged immediately. Of
 * several starts the last one counts, so that no window ends in the future. A start in the future,
 * from a clock ahead, counts as now.
 */
function startOf({ targets }: Registration, nowMs: number): number {
  const starts = targets.flatMap(({ baselineStartMs, canaryStartMs = nowMs }) => [
    canaryStartMs,
    baselineStartMs ?? canaryStartMs,
  ])
  return starts.length === 0 ? nowMs : Math.min(nowMs, Math.max(...starts))
}

function makeTiming(registration: Registration, definition: AnalysisDefinition, startedMs: number): Timing {
  const lifetimeMinutes = registration.lifetimeMinutes ?? definition.lifetimeMinutes
  const interval = registration.intervalMinutes ?? definition.intervalMinutes ?? lifetimeMinutes
  if (lifetimeMinutes / interval > MAX_INTERVALS) {
    throw new AppError(
      'invalid',
      `an interval of ${interval} minutes in a lifetime of ${lifetimeMinutes} is more than ${MAX_INTERVALS} intervals: give a longer interval`,
    )
  }
  const lookBack = registration.lookBack ?? definition.lookBack
  const lookBackMinutes = registration.lookBackMinutes ?? definition.lookBackMinutes ?? interval
  return {
    startedMs,
    lifetimeMs: lifetimeMinutes * MS_PER_MINUTE,
    intervalMs: Math.min(interval, lifetimeMinutes) * MS_PER_MINUTE,
    warmUpMs: (registration.warmUpMinutes ?? definition.warmUpMinutes) * MS_PER_MINUTE,
    delayMs: (registration.delayMinutes ?? definition.delayMinutes) * MS_PER_MINUTE,
    lookBackMs: lookBack === 'sliding' ? lookBackMinutes * MS_PER_MINUTE : undefined,
    stepMs: definition.stepSeconds * MS_PER_SECOND,
  }
}

/** A marginal score above the pass score, which some clients send, leaves nothing to review. */
function makeThresholds(
  registration: Registration,
  definition: AnalysisDefinition,
  templates: PlanTemplates,
): ScoreThresholds {
  const own = { ...DEFAULT_THRESHOLDS, ...templates.thresholds }
  const marginal = registration.marginal ?? definition.marginal ?? own.marginal
  const pass = registration.pass ?? definition.pass ?? Math.max(own.pass, marginal)
  return { pass, marginal: Math.min(marginal, pass) }
}

function planTarget(
  request: TargetRequest,
  { registration: { application }, definition, templates, nowMs }: PlanRequest,
): PlannedTarget {
  const canaryStartMs = Math.min(request.canaryStartMs ?? nowMs, nowMs)
  const offsetMs = definition.baselineOffsetMinutes * MS_PER_MINUTE
  const baselineStartMs = Math.min(request.baselineStartMs ?? canaryStartMs, nowMs) - offsetMs
  const side = (name: 'baseline' | 'canary', given: Scope): PlannedSide => ({
    // Every query has `${application}` and `${service}`. The verification stage sends its
    // pipeline's name as the service.
    scope: { application, service: request.service, ...definition.scopes[name], ...given },
    startMs: name === 'baseline' ? baselineStartMs : canaryStartMs,
  })
  const sides = (scopes: SideScopes): PlannedSides => ({
    baseline: side('baseline', scopes.baseline),
    canary: side('canary', scopes.canary),
  })
  const notJudged = [
    ...(isRequested(request.metric) && definition.metrics === undefined ? ['metrics'] : []),
    ...(isRequested(request.log) && definition.logs === undefined ? ['logs'] : []),
  ].map(
    (what) =>
      `${what} of ${request.service} were requested and are not judged: the definition of ${application} names no source of ${what}`,
  )
  return {
    ...(notJudged.length > 0 && { notJudged }),
    name: request.service,
    metrics: request.metric && planMetrics(request.metric, sides(request.metric), definition, templates),
    logs: request.log && planLogs(request.log, sides(request.log), definition, templates),
    ...(definition.checks !== undefined && {
      checks: { checks: definition.checks, ...sides(request.metric ?? request.log ?? NO_SCOPES) },
    }),
  }
}

function planMetrics(
  request: SideScopes,
  sides: PlannedSides,
  { metrics, baselineTimes, baselineOffsetMinutes }: AnalysisDefinition,
  templates: PlanTemplates,
): PlannedMetrics | undefined {
  const template = templates.metrics(request)
  if (metrics === undefined || template === undefined) return undefined
  const { metrics: selected, groupWeights, warnings } = template
  return {
    ...{ source: metrics.source, aggregate: metrics.aggregate, groupWeights, ...sides },
    metrics: filteredByScope(selected, sides),
    ...(baselineTimes > 1 && {
      earlier: { times: baselineTimes - 1, offsetMs: baselineOffsetMinutes * MS_PER_MINUTE },
    }),
    ...(warnings !== undefined && { warnings }),
  }
}

/**
 * Returns the same metrics if no query is filtered, so that common parts of services are stored
 * once.
 */
function filteredByScope(
  metrics: readonly PlannedMetric[],
  { baseline, canary }: PlannedSides,
): readonly PlannedMetric[] {
  const scopes = { baseline: baseline.scope, canary: canary.scope }
  const changed = metrics.map(({ query, exposureQuery, ...planned }) => ({
    ...planned,
    query: withScopeFilters(planned.spec.name, query, scopes),
    ...(exposureQuery !== undefined && {
      exposureQuery: withScopeFilters(planned.spec.name, exposureQuery, scopes),
    }),
  }))
  const isSame = changed.every(
    ({ query, exposureQuery }, index) =>
      query === metrics[index]?.query && exposureQuery === metrics[index].exposureQuery,
  )
  return isSame ? metrics : changed
}

/**
 * Whether a registration names these scopes itself. Without targets it requests all parts of the
 * definition.
 */
function isRequested(scopes: SideScopes | undefined): boolean {
  return scopes !== undefined && scopes !== NO_SCOPES
}

function planLogs(
  request: SideScopes,
  sides: PlannedSides,
  { logs }: AnalysisDefinition,
  templates: PlanTemplates,
): PlannedLogs | undefined {
  const template = templates.logs(request)
  if (logs === undefined || template === undefined) return undefined
  return {
    source: logs.source,
    query: logs.query ?? template.regularExpression ?? '*',
    index: logs.index ?? template.index,
    maxLines: logs.maxLines,
    template,
    ...sides,
  }
}
