import type { FindOperation } from '../ports/operation.js'
import type { Call, Outcome } from './call.js'

/** A call whose operation has been found. */
export type BoundCall<Context> = (context: Context) => Promise<unknown>

/** Finds the operation of a call; one that is not listed fails when it is run, and alone. */
export function bindCall<Context>(find: FindOperation<Context>): (call: Call) => BoundCall<Context> {
  return ({ operation, args }) =>
    async (context) =>
      await find(operation).apply(context, args as never)
}

/** A connection of one kind, with what its calls have at hand. */
export interface CallConnection<Context> {
  /** Returns one outcome for each call, in order; rejects where the connection is in a state that nobody knows. */
  readonly execute: (calls: readonly BoundCall<Context>[]) => Promise<readonly Outcome[]>
  readonly close: () => void | Promise<void>
}
