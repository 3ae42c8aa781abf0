import type { Failure } from '../../lib/threads/failure.js'
import type { FindOperation } from '../ports/operation.js'

/** One operation to run, as it crosses a thread. */
export interface Call {
  readonly operation: string
  readonly args: unknown
  readonly repeats?: boolean
}

/** What became of a call. */
export type Outcome =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly failure: Failure }

/** What a thread of the store is for. */
export type ThreadRole = 'write' | 'read'

/** To a thread of the store; `calls` is answered by `outcomes`, in order. */
export type StoreRequest =
  { readonly type: 'calls'; readonly calls: readonly Call[] } | { readonly type: 'close' }

/** From a thread of the store; it ends after `refused` and after a `close`. */
export type StoreAnswer =
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly type: 'refused'; readonly failure: Failure }

/** A call whose operation has been found. */
export interface BoundCall<Context> {
  (context: Context): Promise<unknown>
  readonly repeats?: boolean
}

/** Finds the operation of a call; one that is not listed fails when it is run, and alone. */
export function bindCall<Context>(find: FindOperation<Context>): (call: Call) => BoundCall<Context> {
  return ({ operation, args, repeats = false }) =>
    Object.assign(async (context: Context) => await find(operation).apply(context, args as never), {
      repeats,
    })
}

/** A connection of one kind, with what its calls have at hand. */
export interface CallConnection<Context> {
  /** Returns one outcome for each call, in order; rejects where the connection is in a state that nobody knows. */
  readonly execute: (calls: readonly BoundCall<Context>[]) => Promise<readonly Outcome[]>
  readonly close: () => void | Promise<void>
}
