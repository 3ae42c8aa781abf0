import { AppError } from '../../errors/app-error.js'

/**
 * One use case of the store: what it reads and writes through `context` happens in one transaction. Its arguments and
 * its result cross a thread, so they are plain values (numbers, text, bytes, lists, objects).
 */
export interface Operation<Context, Args, Result> {
  /** Unique among all operations, `gates.trigger`: another thread finds the operation by it. */
  readonly name: string
  /** Nobody waits for it: others go before it, and none shares a commit with it. */
  readonly yields?: boolean
  /** It is done again where a power cut has taken it back, so that its commit does not wait for the disk. */
  readonly repeats?: boolean
  readonly apply: (context: Context, args: Args) => Promise<Result>
}

/** Any operation, for a list of all. */
export type AnyOperation<Context> = Operation<Context, never, unknown>

/** Finds an operation by its name; raises `internal` for one that is not listed. */
export type FindOperation<Context> = (name: string) => AnyOperation<Context>

/** Finds operations in a list. Raises `internal` for two of one name. */
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
      throw new AppError('internal', `the store knows no operation ${name}: its feature must list it`)
    return found
  }
}

/**
 * Runs operations one after another, many of them in one commit. `run` resolves once what was written is durable; it
 * rejects with the AppError that the operation raised, whose writes are then undone alone, or with `unavailable` when
 * the store cannot take it.
 */
export interface Runner<Context> {
  run<Args, Result>(operation: Operation<Context, Args, Result>, args: Args): Promise<Result>
}
