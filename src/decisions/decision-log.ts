import type { DecisionKind, DecisionOutcome } from '../store/ports/decision-store.js'

export type { DecisionKind, DecisionOutcome }

/** One decision as the caller of `record` knows it, just after answering. */
export interface DecisionEntry {
  readonly decisionId: string
  /** When the decision was made, in milliseconds since the epoch. */
  readonly timeMs: number
  readonly kind: DecisionKind
  /** The policy path without a leading slash, `deploy/allow`. */
  readonly path: string
  /** The revision of the bundle that answered. */
  readonly revision: string
  readonly outcome: DecisionOutcome
  readonly application?: string | undefined
  readonly caller?: string | undefined
  /** Time spent deciding, in nanoseconds. */
  readonly durationNs: number
  /** JSON bytes, often a view on the request's body: valid only until `record` returns. */
  readonly input?: Uint8Array | undefined
  /** JSON bytes, also valid only until `record` returns. */
  readonly result?: Uint8Array | undefined
  /** What built-ins gave that might give something else another time (`nd_builtin_cache`): JSON bytes, all of them. */
  readonly ndBuiltinCache?: Uint8Array | undefined
  /** Which packages deny, and what each says: JSON bytes, all of them. */
  readonly packages?: Uint8Array | undefined
  readonly error?: string | undefined
  readonly requestId?: string | undefined
}

/**
 * Why something was not kept: `buffer_full`, `write_failed` and `allow_gave_way` count whole decisions, `mask_failed` counts
 * decisions kept without their input because it could not be masked, `detail_gave_way` those kept without input and result. What gave way
 * did so since the buffer was filling.
 */
export type DropReason = 'buffer_full' | 'write_failed' | 'mask_failed' | 'detail_gave_way' | 'allow_gave_way'

/** What of decisions may give way before all of one has to. */
export const GIVES_WAY = ['detail', 'allows'] as const
export type GivesWay = (typeof GIVES_WAY)[number]

/** What nothing has been dropped of yet. */
export const NOTHING_DROPPED: Readonly<Record<DropReason, number>> = {
  buffer_full: 0,
  write_failed: 0,
  mask_failed: 0,
  detail_gave_way: 0,
  allow_gave_way: 0,
}

/** What the log did since it was opened, and what it holds now. */
export interface DecisionLogStats {
  readonly written: number
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Decisions recorded and not yet written or dropped. */
  readonly bufferedRows: number
  /** Memory that those decisions hold, in bytes. */
  readonly bufferedBytes: number
}

/** Keeps decisions for later reading. It never throws at, delays or fails the decision it records. */
export interface DecisionLog {
  /** Takes the entry, or counts it as dropped. Costs microseconds; copies what it keeps of `input` and `result`. */
  record(entry: DecisionEntry): void
  /** Resolves once all that was recorded before the call is written or counted as dropped. */
  flush(): Promise<void>
  /** Flushes, then releases the store; what is recorded afterwards is dropped as `buffer_full`. */
  close(): Promise<void>
  stats(): DecisionLogStats
}

/** The log of a service that keeps none. */
export const nopDecisionLog: DecisionLog = {
  record: () => undefined,
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
  stats: () => ({
    written: 0,
    dropped: NOTHING_DROPPED,
    bufferedRows: 0,
    bufferedBytes: 0,
  }),
}
