import type { DecisionKind, DecisionOutcome } from '../store/ports/decision-store.js'

export type { DecisionKind, DecisionOutcome }

/** A decision to record, just after the response. */
export interface DecisionEntry {
  readonly decisionId: string
  /** Time of the decision, in epoch milliseconds. */
  readonly timeMs: number
  readonly kind: DecisionKind
  /** Policy path without a leading slash: `deploy/allow`. */
  readonly path: string
  /** Revision of the bundle that decided. */
  readonly revision: string
  readonly outcome: DecisionOutcome
  readonly application?: string | undefined
  readonly caller?: string | undefined
  /** Duration of the decision, in nanoseconds. */
  readonly durationNs: number
  /** JSON bytes, often a view of the request's body. Valid until `record` returns. */
  readonly input?: Uint8Array | undefined
  /** JSON bytes. Valid until `record` returns. */
  readonly result?: Uint8Array | undefined
  /** Results of non-deterministic built-ins (`nd_builtin_cache`), as complete JSON bytes. */
  readonly ndBuiltinCache?: Uint8Array | undefined
  /** Packages that deny or warn, and their messages, as complete JSON bytes. */
  readonly packages?: Uint8Array | undefined
  readonly error?: string | undefined
  readonly requestId?: string | undefined
  /** 32 hex digits. */
  readonly traceId?: string | undefined
}

/**
 * Reasons for dropped data. `buffer_full`, `write_failed` and `allow_gave_way` count whole
 * decisions. `mask_failed` counts decisions without an input, because it could not be masked, and
 * `detail_gave_way` those without input and result. `…_gave_way` happens while the buffer fills.
 */
export type DropReason = 'buffer_full' | 'write_failed' | 'mask_failed' | 'detail_gave_way' | 'allow_gave_way'

/** Data of decisions that may be dropped before whole decisions are. */
export const GIVES_WAY = ['detail', 'allows'] as const
export type GivesWay = (typeof GIVES_WAY)[number]

/** Counts of a new log. */
export const NOTHING_DROPPED: Readonly<Record<DropReason, number>> = {
  buffer_full: 0,
  write_failed: 0,
  mask_failed: 0,
  detail_gave_way: 0,
  allow_gave_way: 0,
}

/** Metrics of the log since it was opened. */
export interface DecisionLogStats {
  readonly written: number
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Decisions that are not written or dropped yet. */
  readonly bufferedRows: number
  /** Memory of those decisions, in bytes. */
  readonly bufferedBytes: number
}

/** Records decisions. Never fails or delays the decision. */
export interface DecisionLog {
  /**
   * Records or drops an entry within microseconds. Copies the stored part of `input` and `result`.
   */
  record(entry: DecisionEntry): void
  /** Resolves once all earlier entries are written or dropped. */
  flush(): Promise<void>
  /** Flushes and releases the store. Later entries are dropped as `buffer_full`. */
  close(): Promise<void>
  stats(): DecisionLogStats
}

/** Log of a service without one. */
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
