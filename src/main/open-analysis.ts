import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { AnalysisRunner } from '../analysis/runs/analysis-runner.js'
import type { AnalysisRunnerOptions } from '../analysis/runs/analysis-runner.js'
import type { FindStageTemplates } from '../analysis/runs/definitions/stage-templates.js'
import type { Reader } from '../store/ports/readers.js'
import { findGateOfStage } from '../gates/definitions/find-stage-gate.js'
import { applicationKey } from '../events/registry/registry-change.js'
import type { DefinitionTrials } from '../analysis/runs/try-definition.js'
import { notificationsOf } from '../analysis/runs/notifications.js'
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
import type { HealthPlugin } from '../http/routes/about/health.js'
import { analysisNotifications } from './analysis/notifications.js'
import { watchDefinitions } from './analysis/watch-definitions.js'
import type { DefinitionWatch } from './analysis/watch-definitions.js'
import { defineFromFiles } from './files/define-from-files.js'
import { hasErrorCode } from '../errors/app-error.js'
import { installationSecret, newSecret } from './files/installation-secret.js'
import type { IntervalReport } from '../analysis/runs/intervals/interval-report.js'
import type { EvaluateRule } from '../analysis/runs/checks/check.js'
import type { evaluateIntervalInThread, IntervalHelp, tryQueriesInThread } from './threads/interval-thread.js'
import { THREAD_LOST } from './threads/own-thread.js'
import type { Leadership } from './timers/leadership.js'
import { repeat, setUnrefTimer } from './timers/repeat.js'
import type { Repeated } from './timers/repeat.js'

export interface AnalysisParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  readonly evaluateInterval: typeof evaluateIntervalInThread
  /** Told of each interval that was judged. */
  readonly judged: (run: Pick<StoredRun, 'id' | 'application'>, report: IntervalReport) => void
  readonly tryQueries: typeof tryQueriesInThread
  /** Asks the policies for the checks of definitions. */
  readonly askRule: EvaluateRule
  readonly readSecret: ReadSecret
  readonly wakeOutbox: () => void
}

/** The analyses at work. */
export interface OpenAnalysis {
  readonly routes: AnalysisRoutesDeps
  readonly health: HealthPlugin
  readonly close: () => Promise<void>
}

const KEY_FILE = 'report-key'
const REMOVAL_INTERVAL_MS = 600_000
const TAKE_OVER_INTERVAL_MS = 3000
const MS_PER_DAY = 86_400_000

/** Takes in the definitions of the configuration and goes on with the runs that were under way. */
export async function openAnalysis(config: Config, parts: AnalysisParts): Promise<OpenAnalysis> {
  const { store, logger } = parts
  const { writer, reader, lookups } = store
  const { analysis, server, dataDir } = config
  const help: IntervalHelp = {
    reportDefect: (error) => logger.error({ error }, 'a source of an analysis has a defect'),
    askRule: parts.askRule,
  }
  let key = await store.sharing?.secret(KEY_FILE, newSecret)
  const reportLinks = new ReportLinks({
    key: () => (key ??= installationSecret(dataDir, KEY_FILE)),
    maxAgeMs: analysis.reportLinkDays * MS_PER_DAY,
  })
  const notifications = analysisNotifications(config, parts.readSecret, reportLinks)
  const runner = new AnalysisRunner({
    writer,
    reader,
    leases: store.leases,
    concurrentIntervals: analysis.concurrentIntervals,
    evaluateInterval: (request, givenUp) => parts.evaluateInterval({ analysis }, request, help, givenUp),
    hasEndedThread: (error) => hasErrorCode(error, THREAD_LOST),
    failedInterval,
    now: store.now,
    setTimer: setUnrefTimer,
    judged: tellJudged(parts),
    notifications: (judged) => notificationsOf(notifications, judged),
    notified: parts.wakeOutbox,
    failed: (error) => logger.error({ error: error.message }, 'an analysis could not be read or written'),
  })
  const definitions = await openDefinitions(config, parts)
  await goOn(runner, parts)
  const takingOver = takeOverRuns(runner, parts)
  const routes: AnalysisRoutesDeps = {
    writer,
    reader,
    isKnownApplication: async (application) => {
      const entry = await lookups.registry.findApplication(applicationKey(application))
      return entry?.digest !== undefined
    },
    findStageTemplates: stageTemplatesIn(config, reader),
    sources: sourceTypes(config),
    trials: openTrials(config, parts, help),
    schedule: (run) => runner.schedule(run),
    forget: (id) => runner.forget(id),
    publicUrl: server.publicUrl,
    orchestratorUrl: server.orchestratorUrl ?? server.publicUrl,
    frameAncestors: server.frameAncestors,
    outage: new ReadingOutage(),
    maxBodyBytes: server.maxBodyBytes,
    now: store.now,
    reportLinks,
  }
  const removing = startRemoving(config, parts)
  const close = async (): Promise<void> => {
    await Promise.all([runner.stop(), removing.stop(), takingOver.stop(), definitions.stop()])
  }
  return { routes, health: definitions.health, close }
}

/** Takes in the definition files, now and when they change. */
async function openDefinitions({ analysis }: Config, parts: AnalysisParts): Promise<DefinitionWatch> {
  const { store, logger, attempts } = parts
  const { definitions: directory } = analysis
  const warn = (application: string, warning: string): void =>
    logger.warn({ application, warning }, 'a definition of an analysis says what is not known')
  const define = (): Promise<readonly string[]> =>
    defineFromFiles(directory, store, store.now(), warn, attempts)
  return await watchDefinitions({ directory, define, logger })
}

/** What becomes known of an interval that was judged: a line in the log, and the figures. */
function tellJudged({ logger, judged }: AnalysisParts): AnalysisRunnerOptions['judged'] {
  return (run, report) => {
    const { id, application } = run
    const { look: interval, looks: intervals, score, verdict, errors } = report
    judged(run, report)
    logger.info(
      { analysis: id, application, interval, intervals, score, verdict, errors },
      'an interval of an analysis was judged',
    )
  }
}

/** The configured sources: the type of each by its name. */
function sourceTypes({ analysis }: Config): ReadonlyMap<string, string> {
  return new Map(analysis.sources.map(({ name, type }) => [name, type]))
}

function openTrials(
  config: Config,
  { store, tryQueries }: AnalysisParts,
  help: IntervalHelp,
): Pick<DefinitionTrials, 'try'> {
  const trials = partOnDemand(async () => {
    const loaded = await import('../analysis/runs/try-definition.js')
    return new loaded.DefinitionTrials({
      ...{ reader: store.reader, sources: sourceTypes(config) },
      tryQueries: (plan) => tryQueries({ analysis: config.analysis }, plan, help),
    })
  })
  return { try: async (request) => await (await trials()).try(request) }
}

/** Only where a run is under way: a service that analyses nothing need not start the thread that reads. */
async function goOn(runner: AnalysisRunner, { store }: AnalysisParts): Promise<void> {
  const [running] = await store.lookups.analysis.runs({ state: 'RUNNING', limit: 1 })
  if (running !== undefined) await runner.start()
}

/** Where a store is shared, runs that others registered are known here, too, so that they go on when the others do not. */
function takeOverRuns(runner: AnalysisRunner, parts: AnalysisParts): Pick<Repeated, 'stop'> {
  if (parts.store.sharing === undefined) return { stop: () => Promise.resolve() }
  const looking = repeat(
    TAKE_OVER_INTERVAL_MS,
    () => goOn(runner, parts),
    (error) => parts.logger.error({ error: error.message }, 'analyses of others cannot be looked at'),
  )
  parts.store.sharing.whenReleased(() => void looking.runNow())
  return looking
}

/** Removes the data of old runs from time to time. */
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

/** What the forms of verification stages have chosen, where they may. */
function stageTemplatesIn({ gates }: Config, reader: Reader): FindStageTemplates {
  return async (stage) => {
    if (!gates.fromStages) return undefined
    return (await reader.run(findGateOfStage, { stage, type: 'verification' }))?.templates
  }
}
