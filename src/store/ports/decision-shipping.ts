import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { DecisionReadStore, PageBounds, StoredDecision } from './decision-store.js'

/** Decisions of the local log, in their order, that follow what is in the shared one already. */
export interface UnshippedDecisions {
  readonly decisions: readonly StoredDecision[]
  /** What `noteShipped` is told: where these decisions stand. */
  readonly place: ShippingPlace
}

/** A stretch of the local log. */
export interface ShippingPlace {
  /** Changes when numbers are given a second time, after the newest decisions were deleted. */
  readonly epoch: number
  readonly afterSeq: number
  readonly throughSeq: number
}

/** How far the local log has been shipped. */
export interface ShippingState {
  /** Decisions that are not in the shared log yet. */
  readonly waiting: number
  /** Decisions that never will be: the bounds of the local log took them first, or the shared one refused them. Since the file was begun. */
  readonly missing: number
}

/** The local log as whoever ships it sees it. Every call raises AppError `unavailable` when it fails. */
export interface ShippedLog {
  /** Undefined when everything has been shipped. */
  next(bounds: PageBounds): UnshippedDecisions | undefined
  /** Moves on behind a stretch of which so many decisions were kept. */
  noteShipped(place: ShippingPlace, kept: number): void
  state(): ShippingState
  close(): void
}

/** The log of all processes that share a store, as one that ships to it sees it. */
export interface DecisionReceiver {
  /**
   * Keeps decisions, each once however often it comes: all of them, or none. Raises AppError `unavailable`, or another kind for what
   * it will never take.
   */
  keep(decisions: readonly StoredDecision[]): Promise<void>
  close(): Promise<void>
}

/** How the shipping goes. */
export interface ShippingFigures extends ShippingState {
  /** Decisions that were taken to the shared log since the service started. */
  readonly shipped: number
  /** Why nothing can be shipped now. */
  readonly problem?: string | undefined
}

/** The shipping of the local log, on a thread of its own. */
export interface DecisionShipping {
  readonly figures: () => ShippingFigures
  /** Resolves once what the local file holds now is in the shared log, or could not be taken there. Never rejects. */
  readonly catchUp: () => Promise<void>
  /** Ships what is left, as far as that takes no longer than some seconds. */
  readonly close: () => Promise<void>
}

export interface ShippingOptions {
  /** The thread's, which is given what the engine needs beside `path` and `replica`. */
  readonly script: URL
  /** Of the local log. */
  readonly path: string
  /** The name of this process in the shared log. */
  readonly replica: string
  readonly died: (death: ThreadDeath) => void
  /** Told when nothing can be shipped, and with undefined when it can again. */
  readonly changed: (problem: string | undefined) => void
}

/** To the thread that ships: `catch_up` is answered by `caught_up` of the same number. */
export type ShippingRequest =
  { readonly type: 'catch_up'; readonly number: number } | { readonly type: 'close' }

/** From the thread that ships. */
export type ShippingAnswer =
  | { readonly type: 'figures'; readonly figures: ShippingFigures }
  | { readonly type: 'caught_up'; readonly number: number }

/** The log of all processes that share a store. */
export interface SharedDecisions {
  readonly store: DecisionReadStore
  readonly startShipping: (options: ShippingOptions) => DecisionShipping
  /** Removes whole months that ended before a time; returns how many. Raises AppError `unavailable`. */
  readonly removeMonthsBefore: (timeMs: number) => Promise<number>
}
