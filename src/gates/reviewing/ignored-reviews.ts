import type { WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'

const WINDOW_MS = 10 * 60_000
/** Highest number of instances recorded in one window. */
const MAX_NAMED = 20

/**
 * Limits the records of the orchestrator's reviews without permission, which its client repeats
 * thousands of times within seconds. In each window of ten minutes, the first review of each of
 * twenty instances is recorded and the others are counted.
 */
export class IgnoredReviews {
  #windowStartMs = 0
  readonly #named = new Set<number>()
  #unwritten = 0

  /**
   * Returns the number of unrecorded reviews since the last record if this one is to be recorded,
   * else undefined.
   */
  take(instanceId: number, nowMs: number): number | undefined {
    if (nowMs - this.#windowStartMs >= WINDOW_MS || nowMs < this.#windowStartMs) {
      this.#windowStartMs = nowMs
      this.#named.clear()
    }
    if (this.#named.has(instanceId) || this.#named.size >= MAX_NAMED) {
      this.#unwritten++
      return undefined
    }
    this.#named.add(instanceId)
    const unwritten = this.#unwritten
    this.#unwritten = 0
    return unwritten
  }
}

interface IgnoredReview {
  readonly instanceId: number
  readonly action: string
  /** Why the review was ignored. */
  readonly reason: string
  /** Number of ignored reviews without a record since the last one. */
  readonly unrecorded: number
  readonly actor: Actor
}

/** Records a review without permission. Does nothing for an unknown instance. */
export const recordIgnoredReview: WriteOperation<IgnoredReview, void> = {
  name: 'gates.record-ignored-review',
  apply: async ({ gates, audit }, { instanceId, actor, ...facts }) => {
    const instance = await gates.findInstance(instanceId)
    if (instance === undefined) return
    await audit.append(instanceEntry('gate.review_ignored', instance, actor, facts))
  },
}
