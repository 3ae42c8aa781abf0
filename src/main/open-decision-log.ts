import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { BufferedDecisionLog, defaultBufferBounds } from '../decisions/buffered-decision-log.js'
import type { BufferBounds, ReportedTo } from '../decisions/buffered-decision-log.js'
import type { DecisionLog } from '../decisions/decision-log.js'
import type { ReportOptions } from '../decisions/decision-reporter.js'
import { defaultRetention } from '../decisions/retention.js'
import type { RetentionPolicy } from '../decisions/retention.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { DecisionBatch } from '../decisions/decision-batch.js'
import type { DecisionBatchWriter, WriteReceipt } from '../decisions/keep-decisions.js'
import { toError } from '../errors/app-error.js'
import type { DecisionReadStore } from '../store/ports/decision-store.js'
import { openDecisionFiles } from '../store/sqlite/decisions/decision-files.js'
import type { WriterThreadOptions } from '../decisions/writer-messages.js'
import { RenewedDecisionStore } from '../store/sqlite/decisions/renewed-decision-store.js'
import { WorkerBatchWriter } from '../decisions/worker-batch-writer.js'
import { threadScript } from '../lib/package-root.js'

export interface OpenDecisionLogOptions {
  /** The folder of `decisions.db`. Created if absent. */
  readonly dataDir: string
  /** JSON pointers (RFC 6901) into the input. The token `*` matches every member or element. */
  readonly masks?: readonly string[]
  /** Whether secrets are redacted as in the trail. True by default. */
  readonly redact?: boolean
  readonly bounds?: Partial<BufferBounds>
  readonly retention?: Partial<RetentionPolicy>
  /** Names of the receivers for which detail gives way before decisions at the size limit. */
  readonly receivers?: readonly string[]
  /** Absent if no decision is reported to the trail. */
  readonly reports?: (ReportOptions & ReportedTo) | undefined
  readonly onWriteError?: (error: Error) => void
  /** Called with the reason when a new file replaces a damaged or lost one. */
  readonly onRenewed?: (notice: string) => void
  /** Called when the writing thread ends unexpectedly. */
  readonly threadDied?: (death: ThreadDeath) => void
  readonly openWriter?: OpenDecisionWriter
}

/** Both sides of the decision log. `close` flushes it. */
export interface OpenDecisionLog {
  readonly log: DecisionLog
  /**
   * Writes a batch of another process. Rethrows errors of the writer after handling them like those
   * of an own batch.
   */
  readonly writeBatch: DecisionBatchWriter['write']
  readonly store: DecisionReadStore
  /** Why nothing can be written at present. */
  readonly problem: () => string | undefined
  /** That a new file was started, and why, until an operator has dealt with it. */
  readonly notice: () => string | undefined
  /** How often a new file was started. */
  readonly timesRenewed: () => number
  readonly close: () => Promise<void>
}

const RETENTION_INTERVAL_MS = 60_000

/**
 * Opens the decision log in a data directory. A damaged file is renamed. Throws `unavailable` for a
 * file that is unusable for another reason, `invalid` for a bad mask.
 */
export async function openDecisionLog(options: OpenDecisionLogOptions): Promise<OpenDecisionLog> {
  const { masks = [], openWriter = openDecisionWriter, onWriteError, reports, threadDied } = options
  const path = join(options.dataDir, 'decisions.db')
  const bounds = { ...defaultBufferBounds, ...options.bounds }
  const writing: WriterThreadOptions = {
    path,
    masks,
    maxInputBytes: bounds.maxInputBytes,
    redact: options.redact ?? true,
    reports: reports && { reported: reports.reported, perSecond: reports.perSecond },
    retention: { ...defaultRetention, ...options.retention },
    retentionIntervalMs: RETENTION_INTERVAL_MS,
    receivers: options.receivers ?? [],
  }
  const store = await RenewedDecisionStore.open({
    open: (changed, former) =>
      openDecisionFiles(
        { path, openWriter: () => openWriter(writing, threadDied), changed, nowMs: Date.now() },
        former,
      ),
    renewed: options.onRenewed,
    now: () => performance.now(),
  })
  const log = new BufferedDecisionLog({
    writer: store,
    bounds,
    masked: masks.length > 0,
    ...(onWriteError && { onWriteError }),
    reports,
  })
  const writeBatch = async (batch: DecisionBatch): Promise<WriteReceipt> => {
    const { rowCount } = batch
    try {
      const { report, maskFailed, detailRemoved = 0 } = await store.write(batch)
      if (report !== undefined) reports?.take(report)
      return { maskFailed, detailRemoved }
    } catch (raw) {
      reports?.take({ decisions: [], omitted: { log_failed: rowCount } })
      onWriteError?.(toError(raw))
      throw raw
    }
  }
  return {
    log,
    writeBatch,
    store,
    problem: () => store.problem,
    notice: () => store.notice,
    timesRenewed: () => store.timesRenewed,
    close: () => log.close(),
  }
}

const SCRIPT = threadScript('decision-writer')
/**
 * Batches are outside the heap, so the thread needs little heap. Without a limit V8 would use more.
 */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

/** Opens the writer of the decision log. Throws an AppError if it cannot be opened. */
export type OpenDecisionWriter = (
  options: WriterThreadOptions,
  died?: (death: ThreadDeath) => void,
) => Promise<DecisionBatchWriter>

/**
 * Starts the writing thread and waits until its database is open. Throws an AppError if it cannot
 * be opened.
 */
export async function openDecisionWriter(
  options: WriterThreadOptions,
  died?: (death: ThreadDeath) => void,
): Promise<WorkerBatchWriter> {
  const start = (): Worker => new Worker(SCRIPT, { workerData: options, resourceLimits: THREAD_LIMITS })
  const writer = new WorkerBatchWriter({ name: 'the thread that writes decisions.db', start, died })
  await writer.opened()
  return writer
}
