import type { WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'

const WINDOW_MS = 10 * 60_000
/** Instances that are named in one window. */
const MAX_NAMED = 20

/**
 * Which of the orchestrator's reviews that came without the right are written down: its client repeats them, thousands in a
 * few seconds. In each window of ten minutes the first for an instance is, for twenty instances; the others are counted.
 */
export class IgnoredReviews {
  #windowStartMs = 0
  readonly #named = new Set<number>()
  #unwritten = 0

  /** How many went unwritten since the last one that was written, when this one is to be; undefined when it is not. */
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
  /** Why it did nothing. */
  readonly reason: string
  /** How many others did nothing since the last record of this kind, and have none of their own. */
  readonly unrecorded: number
  readonly actor: Actor
}

/** Writes down that somebody without the right wanted an instance to be reviewed; nothing for an unknown instance. */
export const recordIgnoredReview: WriteOperation<IgnoredReview, void> = {
  name: 'gates.record-ignored-review',
  apply: async ({ gates, audit }, { instanceId, actor, ...facts }) => {
    const instance = await gates.findInstance(instanceId)
    if (instance === undefined) return
    await audit.append(instanceEntry('gate.review_ignored', instance, actor, facts))
  },
}
