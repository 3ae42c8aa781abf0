import type { Failure } from '../../lib/threads/failure.js'

/** One operation to run, as it crosses a thread. */
export interface Call {
  readonly operation: string
  readonly args: unknown
}

/** What became of a call. */
export type Outcome =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly failure: Failure }
