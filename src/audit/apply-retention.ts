import type { AuditReader, ChainEnd } from '../store/ports/audit-store.js'
import { maintain } from '../store/ports/maintenance.js'
import type { StoreMaintenance } from '../store/ports/maintenance.js'
import { deleteThrough } from './audit-operations.js'
import { writeCheckpoint } from './checkpoint-keeper.js'
import type { CheckpointDeps } from './checkpoint-keeper.js'

export interface RetentionOptions extends CheckpointDeps {
  readonly audit: AuditReader
  readonly maintenance: StoreMaintenance
  /** Clock for the age of records. */
  readonly removalTime: () => number
  /** Age above which records are removed. */
  readonly maxAgeMs: number | undefined
  /** Size above which the oldest records are removed. */
  readonly maxBytes: number | undefined
  /** Waits for some milliseconds, during which others write. */
  readonly pause: (ms: number) => Promise<unknown>
  /** Aborted to stop. The next run removes the rest. */
  readonly signal: AbortSignal
}

/** Low, since concurrent writes wait for a step. */
const RECORDS_PER_STEP = 50
/** Pause after a step, relative to the step's time. */
const PAUSE_FACTOR = 2
/** Removal continues below the limit, so that it is needed rarely. */
const LOW_WATER = 0.95

/**
 * Removes the oldest records that are too old or exceed the size, in small steps, after a
 * checkpoint of the last one. Returns the number of removed records.
 */
export async function applyRetention(options: RetentionOptions): Promise<number> {
  const throughSeq = Math.max(await expiredSeq(options), await excessSeq(options))
  const last = throughSeq === 0 ? undefined : await options.audit.find(throughSeq)
  const deleted = last === undefined ? 0 : await removeThrough(options, last)
  // Even without removals: an earlier run may have left free space.
  await maintain(options.maintenance, 'space', options.signal)
  return deleted
}

async function removeThrough(options: RetentionOptions, last: ChainEnd): Promise<number> {
  await writeCheckpoint(options, last, 'retention')
  let deleted = 0
  const { writer, pause, signal } = options
  while (!signal.aborted) {
    const startedAt = performance.now()
    const { removed, isMoreLeft } = await writer.run(deleteThrough, {
      seq: last.seq,
      limit: RECORDS_PER_STEP,
    })
    deleted += removed
    if (!isMoreLeft) break
    await pause((performance.now() - startedAt) * PAUSE_FACTOR)
  }
  return deleted
}

async function expiredSeq({ audit, maxAgeMs, removalTime }: RetentionOptions): Promise<number> {
  return maxAgeMs === undefined ? 0 : await audit.lastRemovable(removalTime() - maxAgeMs)
}

/** Estimates by the average size per record; other data of the store is included. */
async function excessSeq({ audit, maxBytes }: RetentionOptions): Promise<number> {
  const { firstSeq, endSeq, bytes } = await audit.size()
  if (maxBytes === undefined || bytes <= maxBytes) return 0
  const records = endSeq - firstSeq + 1
  return firstSeq - 1 + Math.floor((records * (bytes - maxBytes * LOW_WATER)) / bytes)
}
