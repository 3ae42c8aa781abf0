import { hostname } from 'node:os'
import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { nopDecisionLog } from '../decisions/decision-log.js'
import type { DecisionLog } from '../decisions/decision-log.js'
import type { DecisionReport } from '../decisions/decision-report.js'
import type { DecisionRoutesDeps, KeptDecisions } from '../http/routes/trail/decisions.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { startShipping } from '../decisions/shipping/shipping-thread.js'
import type { DecisionShipping } from '../decisions/shipping/shipping-thread.js'
import type { Snapshot } from '../rego/index.js'
import type { ReadSecret } from '../config/values/secret.js'
import { SHARED_LOG } from '../store/ports/decision-shipping.js'
import type { ShippingMetrics } from '../store/ports/decision-shipping.js'
import type { MainCalls } from './worker-pool/worker-calls.js'
import { openDecisionLog } from './open-decision-log.js'
import { openDecisionSinks } from './open-decision-sinks.js'
import type { ShipperOptions } from './open-decision-sinks.js'
import type { OpenDecisionLog, OpenDecisionLogOptions, OpenDecisionWriter } from './open-decision-log.js'
import type { DecisionQueryDeps } from '../decisions/query-decisions.js'
import type { Logger } from '../lib/logger.js'
import { threadScript } from '../lib/package-root.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'

const MS_PER_DAY = 86_400_000

export interface Decisions {
  readonly log: DecisionLog
  /** Accepts decisions from worker processes. */
  readonly forWorkers: Pick<MainCalls, 'writeDecisions' | 'reportDecisions'>
  readonly read: DecisionRoutesDeps
  readonly health: HealthPlugin
  /** How often a new file replaced a damaged or lost one. */
  readonly timesRenewed: () => number
  /** Metrics of the shipping to the shared log. Absent if the log is not shared. */
  readonly shipping?: (() => ShippingMetrics) | undefined
  /** Metrics of the sinks by name. */
  readonly sinks: () => ReadonlyMap<string, ShippingMetrics>
  /** Masks what leaves for the sinks by these policies from now on. */
  readonly follow: (snapshot: Snapshot) => void
  readonly close: () => Promise<void>
}

export interface DecisionParts extends ShareDecisionsParts {
  /** Receives the decisions that belong in the trail. */
  readonly take: (report: DecisionReport) => void
  readonly openWriter: OpenDecisionWriter
}

const NAME = 'decision_logs'
/** Minimum time between two log lines about the same write failure, such as a full disk. */
const REPORT_INTERVAL_MS = 60_000

const NO_DECISIONS: Decisions = {
  log: nopDecisionLog,
  forWorkers: {
    writeDecisions: () => Promise.resolve({ maskFailed: 0 }),
    reportDecisions: () => undefined,
  },
  read: undefined,
  health: { name: NAME, isUp: () => true },
  timesRenewed: () => 0,
  sinks: () => new Map(),
  follow: () => undefined,
  close: () => Promise.resolve(),
}

/**
 * Opens the decision log, or a disabled one. A damaged file is renamed. Throws `unavailable` for a
 * file that is unusable for another reason.
 */
export async function openDecisions(config: Config, parts: DecisionParts): Promise<Decisions> {
  const { take, logger, threadDied, openWriter } = parts
  const { enabled, mask, redact, maxInputBytes, maxResultBytes, maxAgeDays, maxBytes, ...buffer } =
    config.decisions
  if (!enabled) return NO_DECISIONS
  let reportedAtMs = 0
  let failure: { readonly written: number; readonly message: string } | undefined
  const { log, writeBatch, store, problem, notice, timesRenewed, close } = await openDecisionLog({
    dataDir: config.dataDir,
    masks: mask,
    redact,
    bounds: {
      maxInputBytes,
      maxResultBytes,
      maxBufferedBytes: buffer.bufferBytes,
      maxBufferedRows: buffer.bufferRows,
      givesWay: buffer.givesWay,
      flushIntervalMs: buffer.flushIntervalMs,
    },
    retention: { maxAgeMs: maxAgeDays * MS_PER_DAY, maxBytes },
    receivers: buffer.givesWay.includes('detail') ? receiversOf(config, parts) : [],
    reports: reports(config, take),
    onWriteError: (error) => {
      const message = `decisions not written: ${error.message}`
      const isNews = failing() !== message || performance.now() - reportedAtMs >= REPORT_INTERVAL_MS
      failure = { written: log.stats().written, message }
      if (!isNews) return
      reportedAtMs = performance.now()
      logger.error({ error: error.message }, 'decisions not written')
    },
    onRenewed: (notice) => logger.error({ error: notice }, 'a new decision log was started'),
    threadDied,
    openWriter,
  })
  // The log is up again after the first write that follows a failure.
  const failing = (): string | undefined =>
    failure !== undefined && log.stats().written <= failure.written ? failure.message : undefined
  const currentProblem = (): string | undefined => problem() ?? failing()
  const isUp = (): boolean => currentProblem() === undefined
  const forWorkers = fromWorkers(writeBatch, take, () => (failure = undefined))
  const own = { store, log }
  const shared = shareDecisions(config, own, parts)
  const sinks = openDecisionSinks(config, parts)
  const warning = (): string | undefined => notice() ?? shared?.warning() ?? sinks.warning()
  const health = { name: NAME, isUp, problem: currentProblem, warning }
  const closeAll = async (): Promise<void> => {
    await log.flush()
    await Promise.all([shared?.close(), sinks.close()])
    await close()
  }
  return {
    log,
    forWorkers,
    read: shared?.read ?? own,
    health,
    timesRenewed,
    shipping: shared && (() => shared.shipping.metrics()),
    ...{ sinks: sinks.metrics, follow: sinks.follow },
    close: closeAll,
  }
}

/** Names of the sinks and of the shared log, if there is one. */
function receiversOf({ decisions }: Config, { store }: Pick<DecisionParts, 'store'>): readonly string[] {
  const sinks = decisions.sinks.map(({ name }) => name)
  return store.sharing === undefined ? sinks : [...sinks, SHARED_LOG]
}

/** Writes batches of worker processes. `written` is called after each success. */
function fromWorkers(
  writeBatch: OpenDecisionLog['writeBatch'],
  take: DecisionParts['take'],
  written: () => void,
): Decisions['forWorkers'] {
  return {
    writeDecisions: async ({ cells, bytes, ...batch }) => {
      // A message has a single memory block for both. The writing thread needs each in its own.
      const copy = { ...batch, cells: new Float64Array(cells), bytes: new Uint8Array(bytes) }
      const receipt = await writeBatch(copy)
      written()
      return receipt
    },
    reportDecisions: take,
  }
}

function reports(
  { audit }: Config,
  take: (report: DecisionReport) => void,
): OpenDecisionLogOptions['reports'] {
  const { decisions: reported, decisionsPerSecond: perSecond } = audit
  return reported === 'none' ? undefined : { reported, perSecond, take }
}

const REMOVAL_INTERVAL_MS = 600_000
const SHIP_INTERVAL_MS = 500
/** Above this number of waiting decisions a warning is shown. */
const MAX_WAITING = 10_000

interface ShareDecisionsParts {
  readonly store: Pick<ServiceStore, 'sharing' | 'removalTime'>
  readonly leadership: Leadership
  readonly logger: Logger
  readonly threadDied: (death: ThreadDeath) => void
  readonly readSecret: ReadSecret
}

/** The decision log that several services share. */
interface SharedDecisionLog {
  readonly read: KeptDecisions
  readonly shipping: DecisionShipping
  /** Warns that decisions reach the shared log late or never. */
  readonly warning: () => string | undefined
  /** Call it when all decisions are in the local file, which must still be open. */
  readonly close: () => Promise<void>
}

/**
 * Ships the local log to the shared log and reads from that. Undefined if the store is not shared.
 */
function shareDecisions(
  { dataDir, decisions, store: { replica = hostname() } }: Config,
  own: DecisionQueryDeps,
  { store, leadership, logger, threadDied }: ShareDecisionsParts,
): SharedDecisionLog | undefined {
  if (store.sharing === undefined) return undefined
  const shared = store.sharing.decisions
  const workerData: ShipperOptions = {
    path: join(dataDir, 'decisions.db'),
    ...{ receiver: SHARED_LOG, minMs: SHIP_INTERVAL_MS, maxMs: SHIP_INTERVAL_MS },
    to: { type: 'database', settings: shared.settings, replica },
  }
  const shipping = startShipping({
    script: threadScript('decision-shipper'),
    workerData,
    died: threadDied,
    changed: (problem) => {
      if (problem === undefined) logger.info('shipping of decisions resumed')
      else logger.warn({ error: problem }, 'decisions are not shipped and stay in the local file')
    },
    abandoned: shared.abandoned,
  })
  const keepMs = decisions.maxAgeDays * MS_PER_DAY
  const removing = repeat(
    REMOVAL_INTERVAL_MS,
    leadership.led(async () => {
      const months = await shared.removeMonthsBefore(store.removalTime() - keepMs)
      if (months > 0) logger.info({ months }, 'removed old months from the decision log')
    }),
    (error) => logger.error({ error: error.message }, 'old decisions not removed'),
  )
  const flush = async (): Promise<void> => {
    await own.log.flush()
    await shipping.catchUp()
  }
  return {
    read: { store: shared.store, log: { flush }, own },
    shipping,
    warning: () => warningOf(shipping),
    close: async () => {
      await removing.stop()
      await shipping.close()
    },
  }
}

function warningOf(shipping: DecisionShipping): string | undefined {
  const { problem, waiting } = shipping.metrics()
  const late = `decisions not yet in the shared log: ${waiting}`
  if (problem !== undefined) return `${late} (${problem})`
  return waiting > MAX_WAITING ? late : undefined
}
