import { join } from 'node:path'
import { BufferedDecisionLog, defaultBufferBounds } from '../../decisions/buffered-decision-log.js'
import type { BufferBounds, ReportedTo } from '../../decisions/buffered-decision-log.js'
import type { DecisionLog } from '../../decisions/decision-log.js'
import type { ReportOptions } from '../../decisions/decision-reporter.js'
import { defaultRetention } from '../../decisions/retention.js'
import type { RetentionPolicy } from '../../decisions/retention.js'
import type { BatchWriter, DecisionReadStore } from '../decision-store.js'
import { openDecisionReader } from './decision-reader.js'
import type { WriterThreadOptions } from './decision-writer-messages.js'
import { prepareDecisionDatabase } from './prepare-decision-database.js'
import { openWorkerBatchWriter } from './worker-batch-writer.js'

export interface OpenDecisionLogOptions {
  /** The folder of `decisions.db`; created when absent. */
  readonly dataDir: string
  /** JSON pointers (RFC 6901) into the input; the token `*` matches every member or element. */
  readonly masks?: readonly string[]
  readonly bounds?: Partial<BufferBounds>
  readonly retention?: Partial<RetentionPolicy>
  /** Absent where no decision is reported. */
  readonly reports?: (ReportOptions & ReportedTo) | undefined
  /** Told of every batch that was lost. */
  readonly onWriteError?: (error: Error) => void
  readonly openWriter?: (options: WriterThreadOptions) => Promise<BatchWriter>
}

/** The decision log with both of its sides; `close` flushes it. */
export interface OpenDecisionLog {
  readonly log: DecisionLog
  readonly store: DecisionReadStore
  readonly close: () => Promise<void>
}

const RETENTION_INTERVAL_MS = 60_000

/** Opens the decision log in a data directory; raises AppError `unavailable` for a file that cannot serve, `invalid` for a bad mask. */
export async function openDecisionLog(options: OpenDecisionLogOptions): Promise<OpenDecisionLog> {
  const { masks = [], openWriter = openWorkerBatchWriter, onWriteError, reports } = options
  const path = join(options.dataDir, 'decisions.db')
  const bounds = { ...defaultBufferBounds, ...options.bounds }
  await prepareDecisionDatabase(path)
  const writer = await openWriter({
    path,
    masks,
    maxInputBytes: bounds.maxInputBytes,
    reports: reports && { reported: reports.reported, perSecond: reports.perSecond },
    retention: { ...defaultRetention, ...options.retention },
    retentionIntervalMs: RETENTION_INTERVAL_MS,
  })
  const store = await openReaderBeside(writer, path)
  const log = new BufferedDecisionLog({
    writer,
    bounds,
    masked: masks.length > 0,
    ...(onWriteError && { onWriteError }),
    reports,
  })
  const close = async () => {
    // The writer last: who closes last puts the write-ahead log into the file, and a reader cannot.
    await store.close()
    await log.close()
  }
  return { log, store, close }
}

/** A writer left open would keep the process alive after a failed start. */
async function openReaderBeside(writer: BatchWriter, path: string): Promise<DecisionReadStore> {
  try {
    return openDecisionReader(path)
  } catch (error) {
    await writer.close()
    throw error
  }
}
