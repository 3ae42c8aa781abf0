import type { AuditReader, ChainEnd } from '../store/ports/audit-store.js'
import { maintain } from '../store/ports/maintenance.js'
import type { StoreMaintenance } from '../store/ports/maintenance.js'
import { deleteThrough } from './audit-operations.js'
import { writeCheckpoint } from './checkpoint-keeper.js'
import type { CheckpointDeps } from './checkpoint-keeper.js'

export interface RetentionOptions extends CheckpointDeps {
  readonly audit: AuditReader
  readonly maintenance: StoreMaintenance
  /** The time by which records are old. */
  readonly removalTime: () => number
  /** Records kept longer ago go. */
  readonly maxAgeMs: number | undefined
  /** While the store takes more, the oldest records go. */
  readonly maxBytes: number | undefined
  /** Waits for so many milliseconds, in which others write. */
  readonly pause: (ms: number) => Promise<unknown>
  /** Aborted when it is to end; what is left goes another time. */
  readonly signal: AbortSignal
}

/** Whoever writes meanwhile waits for a step at most. */
const RECORDS_PER_STEP = 50
/** So many times as long as a step took nothing is removed after it. */
const PAUSE_FACTOR = 2
/** Goes on below the bound, so that it is seldom needed. */
const LOW_WATER = 0.95

/** Removes the oldest records that are too old or too many, in small steps, after a checkpoint of their last; returns how many. */
export async function applyRetention(options: RetentionOptions): Promise<number> {
  const throughSeq = Math.max(await expiredSeq(options), await excessSeq(options))
  const last = throughSeq === 0 ? undefined : await options.audit.find(throughSeq)
  const deleted = last === undefined ? 0 : await removeThrough(options, last)
  // Where nothing is to go, too: one that was ended before has left what it freed.
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

/** By the average record; the other records of the store count as if they were records. */
async function excessSeq({ audit, maxBytes }: RetentionOptions): Promise<number> {
  const { firstSeq, endSeq, bytes } = await audit.size()
  if (maxBytes === undefined || bytes <= maxBytes) return 0
  const records = endSeq - firstSeq + 1
  return firstSeq - 1 + Math.floor((records * (bytes - maxBytes * LOW_WATER)) / bytes)
}
