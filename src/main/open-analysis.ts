import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { AnalysisRunner } from '../analysis/runs/analysis-runner.js'
import type { AnalysisRunnerOptions, IntervalResult } from '../analysis/runs/analysis-runner.js'
import type { FindStageTemplates } from '../analysis/runs/definitions/stage-templates.js'
import type { Reader } from '../store/ports/readers.js'
import { findGateOfStage } from '../gates/definitions/find-stage-gate.js'
import { applicationKey } from '../events/registry/registry-change.js'
import { notificationsOf } from '../analysis/runs/notifications.js'
import type { NotificationReceiver, NotificationSettings } from '../analysis/runs/notifications.js'
import { removeOldData } from '../analysis/runs/remove-old-data.js'
import { failedInterval } from '../analysis/runs/failed-interval.js'
import { ReadingOutage } from '../analysis/runs/reading-outage.js'
import { ReportLinks } from '../http/analysis-report/report-links.js'
import type { AnalysisRoutesDeps } from '../http/routes/analysis/analysis-deps.js'
import type { Logger } from '../lib/logger.js'
import { partOnDemand } from '../lib/on-demand.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import { maintain } from '../store/ports/maintenance.js'
import type { StoredRun } from '../store/ports/analysis-store.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { InSpan } from '../telemetry/telemetry.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { watchDefinitions, defineFromFiles, refuseUnusable } from './files/watch-definitions.js'
import type { DefinitionWatch } from './files/watch-definitions.js'
import { hasErrorCode, AppError } from '../errors/app-error.js'
import { installationSecret, newSecret } from './files/installation-secret.js'
import type { IntervalReport } from '../analysis/runs/intervals/interval-report.js'
import type { EvaluateRule } from '../analysis/runs/checks/check.js'
import { backtestInThread } from './threads/interval-thread.js'
import type { evaluateIntervalInThread, IntervalHelp, tryQueriesInThread } from './threads/interval-thread.js'
import { THREAD_LOST } from './threads/own-thread.js'
import type { Reloads } from './reload/reloads.js'
import type { Leadership } from './timers/leadership.js'
import { repeat, setUnrefTimer } from './timers/repeat.js'
import type { Repeated } from './timers/repeat.js'

interface AnalysisParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  readonly evaluateInterval: typeof evaluateIntervalInThread
  readonly judged: (run: Pick<StoredRun, 'id' | 'application'>, report: IntervalReport) => void
  readonly tryQueries: typeof tryQueriesInThread
  /** Evaluates rules for the checks of definitions. */
  readonly askRule: EvaluateRule
  readonly readSecret: ReadSecret
  readonly wakeOutbox: () => void
  readonly reloads: Reloads
  readonly inTrace: InSpan
}

export interface OpenAnalysis {
  /** Returns the dependencies of the routes with a configuration. */
  readonly routes: (config: Config) => AnalysisRoutesDeps
  readonly health: HealthPlugin
  readonly close: () => Promise<void>
}

const KEY_FILE = 'report-key'
const REMOVAL_INTERVAL_MS = 600_000
const TAKE_OVER_INTERVAL_MS = 3000
const MS_PER_DAY = 86_400_000

/** Imports the definitions of the configuration and continues unfinished runs. */
export async function openAnalysis(config: Config, parts: AnalysisParts): Promise<OpenAnalysis> {
  const { store, logger } = parts
  const { writer, reader, lookups } = store
  const { analysis, dataDir } = config
  const help: IntervalHelp = {
    reportDefect: (error) => logger.error({ error }, 'defect in a source of an analysis'),
    askRule: parts.askRule,
  }
  let key = await store.sharing?.secret(KEY_FILE, newSecret)
  const reportLinks = new ReportLinks({
    key: () => (key ??= installationSecret(dataDir, KEY_FILE)),
    maxAgeMs: analysis.reportLinkDays * MS_PER_DAY,
  })
  const runner = makeRunner(config, parts, help, reportLinks)
  const definitions = await openDefinitions(parts)
  await continueRuns(runner, parts)
  const takingOver = takeOverRuns(runner, parts)
  const outage = new ReadingOutage()
  const routes = (configured: Config): AnalysisRoutesDeps => ({
    writer,
    reader,
    isKnownApplication: async (application) => {
      const entry = await lookups.registry.findApplication(applicationKey(application))
      return entry?.digest !== undefined
    },
    findStageTemplates: stageTemplatesIn(configured, reader),
    sources: sourceTypes(configured),
    trials: openTrials(configured, parts, help),
    schedule: (run) => runner.schedule(run),
    forget: (id) => runner.forget(id),
    publicUrl: configured.server.publicUrl,
    orchestratorUrl: configured.server.orchestratorUrl ?? configured.server.publicUrl,
    frameAncestors: configured.server.frameAncestors,
    outage,
    maxBodyBytes: configured.server.maxBodyBytes,
    now: store.now,
    reportLinks,
  })
  const removing = startRemoving(config, parts)
  const close = async (): Promise<void> => {
    await Promise.all([runner.stop(), removing.stop(), takingOver.stop(), definitions.stop()])
  }
  return { routes, health: definitions.health, close }
}

/** Makes the runner, which follows the notifications and sources of the configuration. */
function makeRunner(
  config: Config,
  parts: AnalysisParts,
  help: IntervalHelp,
  reportLinks: ReportLinks,
): AnalysisRunner {
  const { store, logger, reloads } = parts
  const { writer, reader } = store
  let notifications = analysisNotifications(config, parts.readSecret, reportLinks)
  reloads.add((next) => {
    const prepared = analysisNotifications(next.config, next.readSecret, reportLinks)
    return { commit: () => (notifications = prepared) }
  })
  return new AnalysisRunner({
    writer,
    reader,
    leases: store.leases,
    concurrentIntervals: config.analysis.concurrentIntervals,
    evaluateInterval: async (request, givenUp) => {
      const { analysis } = reloads.config
      const evaluate = (): Promise<IntervalResult> =>
        parts.evaluateInterval({ analysis }, request, help, givenUp)
      return parts.inTrace('judge interval', {}, evaluate)
    },
    hasEndedThread: (error) => hasErrorCode(error, THREAD_LOST),
    failedInterval,
    now: store.now,
    setTimer: setUnrefTimer,
    judged: reportJudged(parts),
    notifications: (judged) => notificationsOf(notifications, judged),
    notified: parts.wakeOutbox,
    failed: (error) => logger.error({ error: error.message }, 'an analysis could not be read or written'),
  })
}

async function openDefinitions({
  store,
  logger,
  attempts,
  reloads,
}: AnalysisParts): Promise<DefinitionWatch> {
  const directory = (): string | undefined => reloads.config.analysis.definitions
  const warn = (application: string, warning: string): void =>
    logger.warn({ application, warning }, 'a definition of an analysis has settings without effect')
  const define = (): Promise<readonly string[]> =>
    defineFromFiles(directory(), store, store.now(), warn, attempts)
  const watch = await watchDefinitions({ directory, define, logger })
  reloads.add(async ({ config }) => {
    const next = config.analysis.definitions
    if (next !== undefined && next !== directory()) await refuseUnusable(next)
    return { commit: () => watch.moved() }
  })
  return watch
}

function reportJudged({ logger, judged }: AnalysisParts): AnalysisRunnerOptions['judged'] {
  return (run, report) => {
    const { id, application } = run
    const { look: interval, looks: intervals, score, verdict, errors } = report
    judged(run, report)
    logger.info(
      { analysis: id, application, interval, intervals, score, verdict, errors },
      'interval of an analysis judged',
    )
  }
}

/** The types of the configured sources, by name. */
function sourceTypes({ analysis }: Config): ReadonlyMap<string, string> {
  return new Map(analysis.sources.map(({ name, type }) => [name, type]))
}

function openTrials(
  config: Config,
  { store, tryQueries }: AnalysisParts,
  help: IntervalHelp,
): AnalysisRoutesDeps['trials'] {
  const trials = partOnDemand(async () => {
    const loaded = await import('../analysis/runs/try-definition.js')
    return new loaded.DefinitionTrials({
      ...{ reader: store.reader, sources: sourceTypes(config) },
      tryQueries: (task) => tryQueries({ analysis: config.analysis }, task, help),
      backtest: (task) => backtestInThread({ analysis: config.analysis }, task, help),
    })
  })
  return {
    try: async (request) => await (await trials()).try(request),
    backtest: async (request) => await (await trials()).backtest(request),
  }
}

/** Does nothing if no run is under way, so that the reader thread need not start. */
async function continueRuns(runner: AnalysisRunner, { store }: AnalysisParts): Promise<void> {
  const [running] = await store.lookups.analysis.runs({ state: 'RUNNING', limit: 1 })
  if (running !== undefined) await runner.start()
}

/** With a shared store, continues runs that another service registered and does not continue. */
function takeOverRuns(runner: AnalysisRunner, parts: AnalysisParts): Pick<Repeated, 'stop'> {
  if (parts.store.sharing === undefined) return { stop: () => Promise.resolve() }
  const takingOver = repeat(
    TAKE_OVER_INTERVAL_MS,
    () => continueRuns(runner, parts),
    (error) => parts.logger.error({ error: error.message }, 'analyses of other services could not be read'),
  )
  parts.store.sharing.whenReleased(() => void takingOver.runNow())
  return takingOver
}

function startRemoving({ analysis: { maxAgeDays } }: Config, parts: AnalysisParts): Repeated {
  const { store, logger } = parts
  const { writer, lookups, maintenance } = store
  const { now, removalTime } = store
  const maxAgeMs = maxAgeDays * MS_PER_DAY
  const options = { writer, analysis: lookups.analysis, maxAgeMs, now, removalTime }
  const remove = async (signal: AbortSignal): Promise<void> => {
    const removed = await removeOldData({ ...options, signal })
    if (removed === 0) return
    await maintain(maintenance, 'space', signal)
    logger.info({ removed }, 'data of old analyses removed')
  }
  return repeat(REMOVAL_INTERVAL_MS, parts.leadership.led(remove), (error) => {
    logger.error({ error: error.message }, 'data of old analyses not removed')
  })
}

/** Finds the templates chosen in the form of a verification stage, if stages may choose them. */
function stageTemplatesIn({ gates }: Config, reader: Reader): FindStageTemplates {
  return async (stage) => {
    if (!gates.fromStages) return undefined
    return (await reader.run(findGateOfStage, { stage, type: 'verification' }))?.templates
  }
}

/**
 * Receivers of notifications and the report links to send them. Throws as `readSecret`, and
 * `invalid` for a value that is not a URL.
 */
function analysisNotifications(
  { analysis, server }: Config,
  readSecret: ReadSecret,
  reportLinks: ReportLinks,
): NotificationSettings {
  const base = server.publicUrl?.replace(/\/+$/, '')
  return {
    receivers: analysis.notifications.map(({ url, on, applications }, place): NotificationReceiver => ({
      ...{ on, applications },
      url: httpUrl(readSecret(url).reveal(), `analysis.notifications[${place}].url`),
    })),
    reportUrl: (run, nowMs) =>
      base === undefined ? undefined : `${base}/analysis/report/${run.id}/${reportLinks.issue(run, nowMs)}`,
  }
}

function httpUrl(text: string, place: string): string {
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text
  throw new AppError('invalid', `${place} names a secret that is not an http or https URL`)
}
