import type { Config } from '../config/config.js'
import { nopDecisionLog } from '../decisions/decision-log.js'
import type { DecisionLog } from '../decisions/decision-log.js'
import type { DecisionReport } from '../decisions/decision-report.js'
import type { DecisionRoutesDeps } from '../http/routes/decisions.js'
import type { Logger } from '../lib/logger.js'
import { openDecisionLog } from '../store/sqlite/open-decision-log.js'
import type { OpenDecisionLogOptions } from '../store/sqlite/open-decision-log.js'

const MS_PER_DAY = 86_400_000

/** The decision log as the service uses it. */
export interface Decisions {
  readonly log: DecisionLog
  readonly read: DecisionRoutesDeps
  readonly isUp: () => boolean
  readonly close: () => Promise<void>
}

/**
 * Opens the decision log, or one that keeps nothing. `take` is given those decisions that belong into the trail. Raises AppError
 * `unavailable` for a file that cannot serve.
 */
export async function openDecisions(
  config: Config,
  logger: Logger,
  take: (report: DecisionReport) => void,
): Promise<Decisions> {
  const { enabled, mask, maxInputBytes, maxResultBytes, maxAgeDays, maxBytes, ...buffer } = config.decisions
  if (!enabled) {
    return { log: nopDecisionLog, read: undefined, isUp: () => true, close: () => Promise.resolve() }
  }
  let writtenAtFailure = -1
  const { log, store, close } = await openDecisionLog({
    dataDir: config.dataDir,
    masks: mask,
    bounds: {
      maxInputBytes,
      maxResultBytes,
      maxBufferedBytes: buffer.bufferBytes,
      maxBufferedRows: buffer.bufferRows,
      flushIntervalMs: buffer.flushIntervalMs,
    },
    retention: { maxAgeMs: maxAgeDays * MS_PER_DAY, maxFileBytes: maxBytes },
    reports: reports(config, take),
    onWriteError: (error) => {
      writtenAtFailure = log.stats().written
      logger.error({ error: error.message }, 'decisions not written')
    },
  })
  // Up again as soon as anything has been written after a failure.
  return { log, read: { store, log }, isUp: () => log.stats().written > writtenAtFailure, close }
}

function reports(
  { audit }: Config,
  take: (report: DecisionReport) => void,
): OpenDecisionLogOptions['reports'] {
  const { decisions: reported, decisionsPerSecond: perSecond } = audit
  return reported === 'none' ? undefined : { reported, perSecond, take }
}
