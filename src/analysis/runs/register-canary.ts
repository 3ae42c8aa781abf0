import { AppError } from '../../errors/app-error.js'
import type { NewRun, StoredTemplate, TemplateType } from '../../store/ports/analysis-store.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Writer } from '../../store/ports/transaction.js'
import { readCanaryGroups } from './definitions/canary-groups.js'
import { readLogTemplate } from '../logs/model/log-template.js'
import type { LogTemplate } from '../logs/model/log-template.js'
import { findDefinition, findTemplate, startRun } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'
import { readDefinition } from './definitions/definition.js'
import type { AnalysisDefinition } from './definitions/definition.js'
import type { WaitingRun } from './intervals/run-queue.js'
import { keepPlan } from './definitions/kept-plan.js'
import { makePlan } from './definitions/make-plan.js'
import type { PlanTemplates } from './definitions/make-plan.js'
import { readMetricTemplate } from './definitions/metric-template.js'
import type { MetricTemplate } from './definitions/metric-template.js'
import { parseJsonDocument } from './definitions/parse-document.js'
import type { Registration, SideScopes } from './definitions/registration.js'
import { intervalCount, intervalDueMs } from './intervals/schedule.js'

export interface RegisterCanaryDeps {
  readonly writer: Writer
  readonly reader: Reader
  /** Whether the registry knows an application by this name. */
  readonly isKnownApplication: (application: string) => Promise<boolean>
  /** The configured sources: the type of each by its name. */
  readonly sources: ReadonlyMap<string, string>
  /** Called with the run and the time at which its first interval is due. */
  readonly schedule: (run: WaitingRun) => void
}

/** A run with its number. */
export type StartedRun = NewRun & { readonly id: number }

/**
 * Starts the analysis of an application and gives it. Raises `not_found` for an unknown application, `conflict` for
 * one of which nobody has said how it is analysed, `invalid` for templates that are not there or cannot be read.
 */
export async function registerCanary(
  deps: RegisterCanaryDeps,
  registration: Registration,
  actor: Actor,
): Promise<StartedRun> {
  const { application, executionId, owner } = registration
  const definition = await definitionOf(deps, application)
  refuseUnknownSources(deps.sources, application, definition)
  const templates = await collectTemplates(deps.reader, definition, registration)
  refuseOtherStores(deps.sources, application, definition, templates.queryTypes)
  const plan = makePlan({ registration, definition, templates, nowMs: actor.nowMs })
  const nextIntervalMs = intervalDueMs(plan.timing, 1)
  const kept = keepPlan(plan)
  const run: NewRun = {
    application,
    executionId,
    owner: owner ?? actor.user,
    plan: kept.plan,
    startedMs: actor.nowMs,
    intervals: intervalCount(plan.timing),
    nextIntervalMs: nextIntervalMs,
  }
  const id = await deps.writer.run(startRun, { run, planParts: kept.parts, actor })
  deps.schedule({ id, application, dueMs: nextIntervalMs })
  return { ...run, id }
}

async function definitionOf(deps: RegisterCanaryDeps, application: string): Promise<AnalysisDefinition> {
  const stored = await deps.reader.run(findDefinition, application)
  if (stored !== undefined) return readDefinition(JSON.parse(stored.definition))
  const put = `PUT /analysis/applications/${encodeURIComponent(application)} or a file in analysis.definitions`
  if (await deps.isKnownApplication(application)) {
    throw new AppError('conflict', `nobody has said how ${application} is analysed: define it with ${put}`)
  }
  throw new AppError(
    'not_found',
    `there is no application ${application}: check its name, or define its analysis with ${put}`,
  )
}

function refuseUnknownSources(
  sources: RegisterCanaryDeps['sources'],
  application: string,
  { metrics, logs }: AnalysisDefinition,
): void {
  const missing = [metrics?.source, logs?.source].filter(
    (source) => source !== undefined && !sources.has(source),
  )
  if (missing.length === 0) return
  throw new AppError(
    'conflict',
    `the analysis of ${application} names sources that analysis.sources does not have: ${[...new Set(missing)].join(', ')}`,
  )
}

/** A canary config whose queries are of another store than the source would ask it what it cannot know. */
function refuseOtherStores(
  sources: RegisterCanaryDeps['sources'],
  application: string,
  { metrics }: AnalysisDefinition,
  queryTypes: readonly string[],
): void {
  const type = metrics === undefined ? undefined : sources.get(metrics.source)
  const others = queryTypes.filter((asked) => asked !== type)
  if (metrics === undefined || type === undefined || others.length === 0) return
  throw new AppError(
    'conflict',
    `the canary config of ${application} has queries of the type ${others.join(', ')}, but its source ${metrics.source} is of the type ${type}: name a source of that type, or leave query.type out`,
  )
}

/** Reads all templates first, so that the plan itself is made of values alone. */
async function collectTemplates(
  reader: Reader,
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
    for (const request of [undefined, ...requests]) {
      const name = request?.template ?? own
      if (name === undefined || found.has(keyOf(name, request))) continue
      const template = await reader.run(findTemplate, { type, name, sha1: request?.templateSha1 })
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
  const byLogName = await collect('LOG', logs?.template, logRequests, readLogTemplate)
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
