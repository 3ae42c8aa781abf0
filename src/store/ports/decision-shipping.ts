import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { DecisionReadStore, PageBounds, StoredDecision } from './decision-store.js'

/** Decisions of the local log that the shared log does not have yet, in order. */
export interface UnshippedDecisions {
  readonly decisions: readonly StoredDecision[]
  /** Position of these decisions, for `noteShipped`. */
  readonly place: ShippingPlace
}

/** A range of the local log. */
export interface ShippingPlace {
  /** Changes when numbers are given a second time, after the newest decisions were deleted. */
  readonly epoch: number
  readonly afterSeq: number
  readonly throughSeq: number
}

/** Progress of shipping. */
export interface ShippingState {
  /** Number of decisions that are not in the shared log yet. */
  readonly waiting: number
  /**
   * Number of decisions that the shared log will never have, since the local file was created:
   * retention deleted them first, or the shared log refused them.
   */
  readonly missing: number
}

/** The local log for shipping. Every method raises AppError `unavailable` on failure. */
export interface ShippedLog {
  /** Returns the next decisions to ship; undefined if there are none. */
  next(bounds: PageBounds): UnshippedDecisions | undefined
  /** Advances past a range of which the shared log stored `kept` decisions. */
  noteShipped(place: ShippingPlace, kept: number): void
  state(): ShippingState
  close(): void
}

/** The shared log for one process that ships to it. */
export interface DecisionReceiver {
  /**
   * Stores all decisions or none; a repeated decision is stored once. Raises AppError
   * `unavailable`, or another kind for decisions that it will never accept.
   */
  keep(decisions: readonly StoredDecision[]): Promise<void>
  close(): Promise<void>
}

/** Metrics of shipping. */
export interface ShippingMetrics extends ShippingState {
  /** Number of decisions shipped since the service started. */
  readonly shipped: number
  /** Why shipping fails now. */
  readonly problem?: string | undefined
}

/** Ships the local log on a thread of its own. */
export interface DecisionShipping {
  readonly metrics: () => ShippingMetrics
  /**
   * Resolves once all current decisions of the local file are shipped or could not be. Never
   * rejects.
   */
  readonly catchUp: () => Promise<void>
  /** Ships the remaining decisions, for a few seconds at most. */
  readonly close: () => Promise<void>
}

export interface ShippingOptions {
  /** Script of the thread. The engine adds its settings to `path` and `replica`. */
  readonly script: URL
  /** Path of the local log. */
  readonly path: string
  /** Name of this process in the shared log. */
  readonly replica: string
  readonly died: (death: ThreadDeath) => void
  /** Called when shipping fails, and with undefined when it works again. */
  readonly changed: (problem: string | undefined) => void
}

/** To the shipping thread. `catch_up` is answered by `caught_up` with the same number. */
export type ShippingRequest =
  { readonly type: 'catch_up'; readonly number: number } | { readonly type: 'close' }

/** From the shipping thread. */
export type ShippingAnswer =
  | { readonly type: 'metrics'; readonly metrics: ShippingMetrics }
  | { readonly type: 'caught_up'; readonly number: number }

/** The decision log of all processes that share a store. */
export interface SharedDecisions {
  readonly store: DecisionReadStore
  readonly startShipping: (options: ShippingOptions) => DecisionShipping
  /**
   * Removes whole months that ended before a time. Returns the number of removed months. Raises
   * AppError `unavailable`.
   */
  readonly removeMonthsBefore: (timeMs: number) => Promise<number>
}
