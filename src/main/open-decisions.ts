import type { Config } from '../config/config.js'
import { nopDecisionLog } from '../decisions/decision-log.js'
import type { DecisionLog } from '../decisions/decision-log.js'
import type { DecisionReport } from '../decisions/decision-report.js'
import type { DecisionRoutesDeps } from '../http/routes/trail/decisions.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import type { ShippingMetrics } from '../store/ports/decision-shipping.js'
import type { MainCalls } from './workers/worker-calls.js'
import { openDecisionLog } from './open-decision-log.js'
import type { OpenDecisionLog, OpenDecisionLogOptions } from './open-decision-log.js'
import { shareDecisions } from './share-decisions.js'
import type { ShareDecisionsParts } from './share-decisions.js'
import type { OpenDecisionWriter } from './threads/decision-writer-thread.js'

const MS_PER_DAY = 86_400_000

/** The decision log as the service uses it. */
export interface Decisions {
  readonly log: DecisionLog
  /** Takes what workers decided. */
  readonly forWorkers: Pick<MainCalls, 'writeDecisions' | 'reportDecisions'>
  readonly read: DecisionRoutesDeps
  readonly health: HealthPlugin
  /** How many times another file was begun in place of a damaged or lost one. */
  readonly timesRenewed: () => number
  /** How the shipping to the shared log goes; absent where none is shared. */
  readonly shipping?: (() => ShippingMetrics) | undefined
  readonly close: () => Promise<void>
}

/** What the decision log needs beside the configuration. */
export interface DecisionParts extends ShareDecisionsParts {
  /** Is given those decisions that belong into the trail. */
  readonly take: (report: DecisionReport) => void
  readonly openWriter: OpenDecisionWriter
}

const NAME = 'decision_logs'
/** While batch after batch fails for the same reason, as on a full disk, the log says so this often. */
const TOLD_AGAIN_MS = 60_000

const NO_DECISIONS: Decisions = {
  log: nopDecisionLog,
  forWorkers: {
    writeDecisions: () => Promise.resolve({ maskFailed: 0 }),
    reportDecisions: () => undefined,
  },
  read: undefined,
  health: { name: NAME, isUp: () => true },
  timesRenewed: () => 0,
  close: () => Promise.resolve(),
}

/**
 * Opens the decision log, or one that keeps nothing. A damaged file is renamed. Raises AppError `unavailable` for a file that cannot serve for
 * another reason.
 */
export async function openDecisions(config: Config, parts: DecisionParts): Promise<Decisions> {
  const { take, logger, threadDied, openWriter } = parts
  const { enabled, mask, redact, maxInputBytes, maxResultBytes, maxAgeDays, maxBytes, ...buffer } =
    config.decisions
  if (!enabled) return NO_DECISIONS
  let toldAtMs = 0
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
    reports: reports(config, take),
    onWriteError: (error) => {
      const message = `decisions not written: ${error.message}`
      const isNews = failing() !== message || performance.now() - toldAtMs >= TOLD_AGAIN_MS
      failure = { written: log.stats().written, message }
      if (!isNews) return
      toldAtMs = performance.now()
      logger.error({ error: error.message }, 'decisions not written')
    },
    onRenewed: (notice) => logger.error({ error: notice }, 'the decision log was begun anew'),
    threadDied,
    openWriter,
  })
  // Up again as soon as anything has been written after a failure.
  const failing = (): string | undefined =>
    failure !== undefined && log.stats().written <= failure.written ? failure.message : undefined
  const whatIsWrong = (): string | undefined => problem() ?? failing()
  const isUp = (): boolean => whatIsWrong() === undefined
  const forWorkers = fromWorkers(writeBatch, take, () => (failure = undefined))
  const own = { store, log }
  const shared = shareDecisions(config, own, parts)
  const warning = (): string | undefined => notice() ?? shared?.warning()
  const health = { name: NAME, isUp, problem: whatIsWrong, warning }
  const closeAll = async (): Promise<void> => {
    if (shared !== undefined) {
      await log.flush()
      await shared.close()
    }
    await close()
  }
  return {
    log,
    forWorkers,
    read: shared?.read ?? own,
    health,
    timesRenewed,
    shipping: shared && (() => shared.shipping.metrics()),
    close: closeAll,
  }
}

/** Writes batches of workers; `written` is told of each that succeeded. */
function fromWorkers(
  writeBatch: OpenDecisionLog['writeBatch'],
  take: DecisionParts['take'],
  written: () => void,
): Decisions['forWorkers'] {
  return {
    writeDecisions: async ({ cells, bytes, ...batch }) => {
      // A message has one memory for both; the writing thread is given each as its own.
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
