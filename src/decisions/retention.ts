import type { DecisionWriteStore } from '../store/ports/decision-store.js'

/** What retention needs of a store of decisions. */
export type PrunedStore = Omit<DecisionWriteStore, 'insert' | 'close'>

/** How long decisions are kept and how large their file may grow; the oldest go first. */
export interface RetentionPolicy {
  readonly maxAgeMs: number
  /** Of the database file; its write-ahead log stands beside it and is bounded by the store. */
  readonly maxFileBytes: number
}

/** 30 days and 512 MiB. */
export const defaultRetention: RetentionPolicy = {
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxFileBytes: 512 * 1024 * 1024,
}

const ROWS_PER_STEP = 1024
const RELEASED_BYTES_PER_STEP = 16 * 1024 * 1024
/** Pruning goes on below the bound, so that it is seldom needed and new rows find free pages inside the file. */
const LOW_WATER = 0.95

/** Deletes at most so many steps' worth of decisions that are too old; gives how many. */
export function deleteExpired(
  store: PrunedStore,
  policy: RetentionPolicy,
  nowMs: number,
  maxSteps = 64,
): number {
  let deleted = 0
  for (let step = 0; step < maxSteps; step += 1) {
    const count = store.deleteBefore(nowMs - policy.maxAgeMs, ROWS_PER_STEP)
    deleted += count
    if (count < ROWS_PER_STEP) break
  }
  return deleted
}

/** Deletes the oldest decisions while they fill more than the bound; gives how many. */
export function deleteAboveSize(store: PrunedStore, policy: RetentionPolicy, maxSteps = 64): number {
  if (store.size().liveBytes <= policy.maxFileBytes) return 0
  let deleted = 0
  for (let step = 0; step < maxSteps; step += 1) {
    const { liveBytes, rows } = store.size()
    const excess = liveBytes - policy.maxFileBytes * LOW_WATER
    if (excess <= 0) break
    // By the average row, lest a step of large rows empties a small store.
    const count = store.deleteOldest(Math.min(Math.ceil((rows * excess) / liveBytes), ROWS_PER_STEP))
    deleted += count
    if (count === 0) break
  }
  return deleted
}

/** Gives a bounded part of the file back when it is above the bound or mostly empty. */
export function shrinkFile(store: PrunedStore, policy: RetentionPolicy): void {
  const { fileBytes, liveBytes } = store.size()
  const excess = Math.max(fileBytes - policy.maxFileBytes, fileBytes / 2 - liveBytes)
  if (excess > 0) store.releaseFreeSpace(Math.min(excess, RELEASED_BYTES_PER_STEP))
}
