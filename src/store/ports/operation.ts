import { AppError } from '../../errors/app-error.js'

/**
 * A use case of the store. All reads and writes through `context` are one transaction. Arguments
 * and result cross a thread, so they must be plain values (numbers, text, bytes, lists, objects).
 */
export interface Operation<Context, Args, Result> {
  /** Unique name, such as `gates.trigger`. Another thread finds the operation by it. */
  readonly name: string
  /**
   * Whether other operations run first. The operation then has a commit of its own. For work that
   * no caller waits for.
   */
  readonly isBackground?: boolean
  /**
   * Whether a power cut may undo the operation, because it is done again. Its commit then does not
   * wait for the disk.
   */
  readonly repeats?: boolean
  readonly apply: (context: Context, args: Args) => Promise<Result>
}

/** Any operation, for lists. */
export type AnyOperation<Context> = Operation<Context, never, unknown>

/** Finds an operation by its name. Raises `internal` for an unlisted one. */
export type FindOperation<Context> = (name: string) => AnyOperation<Context>

/** Makes a registry of operations. Raises `internal` for a duplicate name. */
export function operationRegistry<Context>(
  operations: readonly AnyOperation<Context>[],
): FindOperation<Context> {
  const byName = new Map<string, AnyOperation<Context>>()
  for (const operation of operations) {
    const { name } = operation
    if (byName.has(name)) throw new AppError('internal', `two operations of the store are named ${name}`)
    byName.set(name, operation)
  }
  return (name) => {
    const found = byName.get(name)
    if (found === undefined)
      throw new AppError('internal', `the store has no operation ${name}: list it in its feature`)
    return found
  }
}

/**
 * Runs operations one after another, many of them in one commit. `run` resolves once the writes are
 * durable. It rejects with the operation's AppError, and only that operation's writes are undone,
 * or with `unavailable` if the store fails. Messages that the operation adds to the outbox continue
 * the trace of `traceparent` (W3C Trace Context).
 */
export interface Runner<Context> {
  run<Args, Result>(
    operation: Operation<Context, Args, Result>,
    args: Args,
    traceparent?: string,
  ): Promise<Result>
}
