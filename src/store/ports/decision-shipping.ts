import type { DecisionReadStore, PageBounds, StoredDecision } from './decision-store.js'

/** The name of the shared log as a receiver. Sinks have other names. */
export const SHARED_LOG = ''

/** Decisions of the local log that a receiver does not have yet, in order. */
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
  /** Number of decisions that the receiver does not have yet. */
  readonly waiting: number
  /**
   * Number of decisions that the receiver will never have, since the local file was created:
   * retention deleted them first, or the receiver refused them.
   */
  readonly missing: number
}

/** The local log for shipping to one receiver. Every method raises AppError `unavailable` on failure. */
export interface ShippedLog {
  /** Returns the next decisions to ship; undefined if there are none. */
  next(bounds: PageBounds): UnshippedDecisions | undefined
  /** Advances past a range of which the receiver stored `kept` decisions. */
  noteShipped(place: ShippingPlace, kept: number): void
  state(): ShippingState
  close(): void
}

/** The receiver of the decisions of one process: the shared log or a sink. */
export interface DecisionReceiver {
  /**
   * Stores all decisions or none. The shared log stores a repeated decision once. Raises AppError
   * `unavailable`, or another kind for decisions that it will never accept together.
   */
  keep(decisions: readonly StoredDecision[]): Promise<void>
  close(): Promise<void>
}

/** Metrics of shipping. */
export interface ShippingMetrics extends ShippingState {
  /** Number of decisions shipped since the service started. */
  readonly shipped: number
  /** Number of decisions that a policy dropped, for a sink. */
  readonly dropped?: number
  /** Number of decisions sent without detail because their mask failed, for a sink. */
  readonly maskFailed?: number
  /** Why shipping fails now. */
  readonly problem?: string | undefined
}

/** The decision log of all processes that share a store. */
export interface SharedDecisions {
  readonly store: DecisionReadStore
  /** How the script of a shipping thread reaches the log; it can be sent to a thread. */
  readonly settings: object
  /** Aborted when the database cannot be reached during a stop. */
  readonly abandoned: AbortSignal
  /**
   * Removes whole months that ended before a time. Returns the number of removed months. Raises
   * AppError `unavailable`.
   */
  readonly removeMonthsBefore: (timeMs: number) => Promise<number>
}
