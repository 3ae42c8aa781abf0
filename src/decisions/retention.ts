import type { DecisionWriteStore } from '../store/ports/decision-store.js'

/** Methods of a store that retention uses. */
export type PrunedStore = Omit<DecisionWriteStore, 'insert' | 'close' | 'takeDetailRemoved'>

/** Highest age and size of stored decisions. The oldest are deleted first. */
export interface RetentionPolicy {
  readonly maxAgeMs: number
  readonly maxBytes: number
}

/** 30 days and 512 MiB. */
export const defaultRetention: RetentionPolicy = {
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxBytes: 512 * 1024 * 1024,
}

const ROWS_PER_STEP = 1024
/** Deletion continues below the limit, so that it is needed rarely. */
const LOW_WATER = 0.95

/**
 * Deletes decisions that are too old, in at most `maxSteps` steps. Returns the number of deleted
 * decisions.
 */
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

/** Deletes the oldest decisions above the size limit. Returns the number of deleted decisions. */
export function deleteAboveSize(store: PrunedStore, policy: RetentionPolicy, maxSteps = 64): number {
  if (store.size().bytes <= policy.maxBytes) return 0
  let deleted = 0
  for (let step = 0; step < maxSteps; step += 1) {
    const { bytes, rows } = store.size()
    const excess = bytes - policy.maxBytes * LOW_WATER
    if (excess <= 0) break
    // Estimates by the average row, so that a step of large rows does not empty a small store.
    const count = store.deleteOldest(Math.min(Math.ceil((rows * excess) / bytes), ROWS_PER_STEP))
    deleted += count
    if (count === 0) break
  }
  return deleted
}
