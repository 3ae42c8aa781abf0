import type { DecisionWriteStore } from '../store/ports/decision-store.js'

/** What retention needs of a store of decisions. */
export type PrunedStore = Omit<DecisionWriteStore, 'insert' | 'close'>

/** How long decisions are stored and how much they may take; the oldest go first. */
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
/** Pruning goes on below the bound, so that it is seldom needed, and new decisions find room. */
const LOW_WATER = 0.95

/** Deletes at most this many steps' worth of decisions that are too old; returns how many. */
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

/** Deletes the oldest decisions while they fill more than the bound; returns how many. */
export function deleteAboveSize(store: PrunedStore, policy: RetentionPolicy, maxSteps = 64): number {
  if (store.size().bytes <= policy.maxBytes) return 0
  let deleted = 0
  for (let step = 0; step < maxSteps; step += 1) {
    const { bytes, rows } = store.size()
    const excess = bytes - policy.maxBytes * LOW_WATER
    if (excess <= 0) break
    // By the average row, lest a step of large rows empties a small store.
    const count = store.deleteOldest(Math.min(Math.ceil((rows * excess) / bytes), ROWS_PER_STEP))
    deleted += count
    if (count === 0) break
  }
  return deleted
}
