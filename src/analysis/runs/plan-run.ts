import { AppError } from '../../errors/app-error.js'
import type {
  AnalysisReader,
  NewRun,
  PlanPart,
  StoredTemplate,
  TemplateType,
} from '../../store/ports/analysis-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import { readLogTemplate, type LogTemplate } from '../../canary/index.js'
import { readCanaryGroups } from './definitions/canary-groups.js'
import { readDefinition } from './definitions/definition.js'
import type { AnalysisDefinition } from './definitions/definition.js'
import { warningsOf } from './definitions/plan.js'
import { keepPlan } from './definitions/kept-plan.js'
import { makePlan } from './definitions/make-plan.js'
import type { PlanTemplates } from './definitions/make-plan.js'
import { readMetricTemplate } from './definitions/metric-template.js'
import type { MetricTemplate } from './definitions/metric-template.js'
import { parseJsonDocument } from './definitions/parse-document.js'
import { NO_SCOPES } from './definitions/registration.js'
import type { Registration, SideScopes } from './definitions/registration.js'
import { oddPlaceholders } from './definitions/store-query.js'
import { intervalCount, intervalDueMs } from './intervals/schedule.js'

/** The input of a plan. */
export interface PlanRequest {
  readonly registration: Registration
  /** The registering user, for registrations without an owner. */
  readonly user: string | undefined
  readonly nowMs: number
  /** The configured sources: the type of each by its name. */
  readonly sources: ReadonlyMap<string, string>
  /** A definition to try instead of the stored one. */
  readonly definition?: AnalysisDefinition
}

/** A run to be started. */
export interface MadeRun {
  readonly run: NewRun
  readonly planParts: readonly PlanPart[]
  /** Sentences about parts of the request that are not judged. */
  readonly warnings: readonly string[]
}

/**
 * Checks a template in JSON as sent. Raises `invalid` with all problems. Runs in the reading
 * threads, since a template of thousands of metrics takes long.
 */
export const checkTemplate: ReadOperation<{ readonly type: TemplateType; readonly body: string }, void> = {
  name: 'analysis.check-template',
  apply: (_, { type, body }) => {
    const read = type === 'LOG' ? readQueriedLogTemplate : readMetricTemplate
    read(parseJsonDocument(body))
    return Promise.resolve()
  },
}

/** A log template with queries that runs can fill. Raises `invalid` with all problems. */
function readQueriedLogTemplate(document: unknown): LogTemplate {
  const template = readLogTemplate(document)
  for (const member of ['regularExpression', 'index'] as const) {
    const problem = oddPlaceholders(template[member] ?? '')
    if (problem !== undefined) throw new AppError('invalid', `the log template: ${member} ${problem}`)
  }
  return template
}

/**
 * The plan of a run by the definition of the application; undefined without one. Raises `conflict`
 * for missing sources and templates, and `invalid` for malformed templates and a plan that is too
 * large.
 */
export const makeRun: ReadOperation<PlanRequest, MadeRun | undefined> = {
  name: 'analysis.make-run',
  apply: async ({ analysis }, { registration, user, nowMs, sources, ...given }) => {
    const { application, executionId, owner } = registration
    const definition = given.definition ?? (await storedDefinition(analysis, application))
    if (definition === undefined) return undefined
    refuseUnknownSources(sources, application, definition)
    const templates = await collectTemplates(analysis, definition, registration)
    refuseOtherStores(sources, application, definition, templates.queryTypes)
    refuseFilteredInstances(definition, templates, registration)
    const plan = makePlan({ registration, definition, templates, nowMs })
    const kept = keepPlan(plan)
    const run: NewRun = {
      application,
      executionId,
      owner: owner ?? user,
      plan: kept.plan,
      startedMs: nowMs,
      intervals: intervalCount(plan.timing),
      nextIntervalMs: intervalDueMs(plan.timing, 1),
    }
    return { run, planParts: kept.parts, warnings: warningsOf(plan) }
  },
}

async function storedDefinition(
  analysis: AnalysisReader,
  application: string,
): Promise<AnalysisDefinition | undefined> {
  const stored = await analysis.definition(application)
  return stored && readDefinition(JSON.parse(stored.definition))
}

function refuseUnknownSources(
  sources: ReadonlyMap<string, string>,
  application: string,
  { metrics, logs, checks = [], instances }: AnalysisDefinition,
): void {
  const missing = [
    metrics?.source,
    logs?.source,
    instances?.source,
    ...checks.map(({ source }) => source),
  ].filter((source) => source !== undefined && !sources.has(source))
  const other = checks.find(({ source }) => (sources.get(source) ?? 'web') !== 'web')
  if (other !== undefined) {
    throw new AppError(
      'conflict',
      `the check ${other.name} of ${application} names the source ${other.source}, which is of the type ${sources.get(other.source) ?? ''}: rules evaluate documents of sources of the type web`,
    )
  }
  const type = sources.get(instances?.source ?? '') ?? 'prometheus'
  if (instances !== undefined && !['prometheus', 'loki'].includes(type)) {
    throw new AppError(
      'conflict',
      `the instances of ${application} name the source ${instances.source}, which is of the type ${type}: sources of the types prometheus and loki know instances`,
    )
  }
  if (missing.length === 0) return
  throw new AppError(
    'conflict',
    `the analysis of ${application} names sources that analysis.sources does not have: ${[...new Set(missing)].join(', ')}`,
  )
}

/** Refuses a log template that filters lines by one instance, where several are chosen. */
function refuseFilteredInstances(
  { instances }: AnalysisDefinition,
  templates: PlanTemplates,
  { targets }: Registration,
): void {
  if (instances === undefined) return
  const requests = targets.length === 0 ? [NO_SCOPES] : targets.map(({ log }) => log)
  if (!requests.some((log) => log && templates.logs(log)?.filterKey === instances.label)) return
  throw new AppError(
    'conflict',
    `the log template has the filterKey ${instances.label}, which takes one instance: leave it out, and write ${instances.label}=~"\${${instances.label}}" into logs.query`,
  )
}

/** Refuses a canary config with queries for another store than the source. */
function refuseOtherStores(
  sources: ReadonlyMap<string, string>,
  application: string,
  { metrics }: AnalysisDefinition,
  queryTypes: readonly string[],
): void {
  const type = metrics === undefined ? undefined : sources.get(metrics.source)
  const others = queryTypes.filter((queryType) => queryType !== type)
  if (metrics === undefined || type === undefined || others.length === 0) return
  throw new AppError(
    'conflict',
    `the canary config of ${application} has queries of the type ${others.join(', ')}, but its source ${metrics.source} is of the type ${type}: name a source of that type, or leave query.type out`,
  )
}

/** Reads all templates first, so that the plan itself is made of values alone. */
async function collectTemplates(
  analysis: AnalysisReader,
  definition: AnalysisDefinition,
  { targets }: Registration,
): Promise<PlanTemplates> {
  const collect = async <T>(
    type: TemplateType,
    own: string | undefined,
    requests: readonly (SideScopes | undefined)[],
    read: (document: unknown) => T,
  ): Promise<(request: SideScopes | undefined) => T | undefined> => {
    const found = new Map<string, T>()
    // A registration without targets requests the whole application as defined.
    for (const request of requests.length === 0 ? [NO_SCOPES] : requests) {
      if (request === undefined) continue
      const name = request.template ?? own
      if (name === undefined || found.has(keyOf(name, request))) continue
      const template = await analysis.template(type, name, request.templateSha1)
      found.set(keyOf(name, request), read(bodyOf(template, type, name)))
    }
    return (request) => {
      const name = request?.template ?? own
      return name === undefined ? undefined : found.get(keyOf(name, request))
    }
  }
  const { metrics, logs } = definition
  const metricRequests = targets.map(({ metric }) => metric)
  const logRequests = targets.map(({ log }) => log)
  const byMetricName = await collect('METRIC', metrics?.template, metricRequests, readMetricTemplate)
  const byLogName = await collect('LOG', logs?.template, logRequests, readQueriedLogTemplate)
  const inline = metrics?.canaryConfig === undefined ? undefined : readCanaryGroups(metrics.canaryConfig)
  const plain =
    logs !== undefined && logs.template === undefined ? readLogTemplate(PLAIN_LOG_TEMPLATE) : undefined
  return {
    metrics: (request): MetricTemplate | undefined => byMetricName(request) ?? inline,
    logs: (request): LogTemplate | undefined => byLogName(request) ?? plain,
    thresholds: inline?.thresholds,
    queryTypes: inline?.queryTypes ?? [],
  }
}

/** Logs without a template are judged by the default topics. */
const PLAIN_LOG_TEMPLATE = { templateName: 'default' }

function keyOf(name: string, request: SideScopes | undefined): string {
  return JSON.stringify([name, request?.template === undefined ? undefined : request.templateSha1])
}

function bodyOf(template: StoredTemplate | undefined, type: TemplateType, name: string): unknown {
  if (template !== undefined) return parseJsonDocument(template.body)
  const kind = type === 'METRIC' ? 'metric' : 'log'
  throw new AppError(
    'conflict',
    `there is no ${kind} template ${name}: send it with POST /autopilot/api/v5/external/template?templateType=${type}&templateName=${encodeURIComponent(name)}`,
  )
}
