import type { Operation, Runner } from '../ports/operation.js'
import type { Readers } from '../ports/readers.js'

/** Is told what became of calls. */
export interface CallWatch {
  readonly succeeded: () => void
  readonly failed: (error: unknown) => void
}

/** A runner whose outcomes are watched. */
export function watchRunner<Context>(runner: Runner<Context>, watch: CallWatch): Runner<Context> {
  return {
    async run<Args, Result>(operation: Operation<Context, Args, Result>, args: Args): Promise<Result> {
      try {
        const result = await runner.run(operation, args)
        watch.succeeded()
        return result
      } catch (error) {
        watch.failed(error)
        throw error
      }
    },
  }
}

/** The error to raise for one of the driver's; any other as it is. */
type FromDriver = (raw: unknown) => unknown

/** Readers that raise AppErrors where the driver fails, as the runners do, and whose outcomes are watched. */
export function watchReaders<All extends Readers>(
  readers: All,
  watch: CallWatch,
  fromDriver: FromDriver,
): All {
  const guarded = Object.entries(readers).map(([name, part]: [string, object]) => [
    name,
    guard(part, watch, fromDriver),
  ])
  return Object.fromEntries(guarded) as All
}

function guard<Part extends object>(
  part: Part,
  { succeeded, failed }: CallWatch,
  fromDriver: FromDriver,
): Part {
  const fail = (raw: unknown): never => {
    const error = fromDriver(raw)
    failed(error)
    throw error
  }
  const settled = <Result>(result: Result): Result => {
    succeeded()
    return result
  }
  const guarded = (method: (...args: unknown[]) => unknown) =>
    function call(...args: unknown[]): unknown {
      try {
        const result = method.apply(part, args)
        return result instanceof Promise ? result.then(settled, fail) : result
      } catch (raw) {
        return fail(raw)
      }
    }
  const entries = Object.entries(part).map(([name, method]) => [name, guarded(method as never)])
  return Object.fromEntries(entries) as Part
}
