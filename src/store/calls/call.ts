import type { Failure } from '../../lib/threads/failure.js'

/** One operation to run, as it crosses a thread. */
export interface Call {
  readonly operation: string
  readonly args: unknown
  readonly repeats?: boolean
  /** Trace that the messages of the call continue. */
  readonly traceparent?: string | undefined
}

/** The result of a call, or why it failed. */
export type Outcome =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly failure: Failure }

/** Whether a thread of the store writes or reads. */
export type ThreadRole = 'write' | 'read'

/** To a thread of the store; `calls` is answered by `outcomes`, in order. */
export type StoreRequest =
  { readonly type: 'calls'; readonly calls: readonly Call[] } | { readonly type: 'close' }

/** From a thread of the store; it ends after `refused` and after a `close`. */
export type StoreAnswer =
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly type: 'refused'; readonly failure: Failure }

/** Runs calls on one connection. */
export interface CallConnection {
  /**
   * Returns one outcome for each call, in order. Rejects if the state of the connection is unknown
   * afterwards.
   */
  readonly execute: (calls: readonly Call[]) => Promise<readonly Outcome[]>
  readonly close: () => Promise<void>
}
