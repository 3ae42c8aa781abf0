import type { Readers } from '../ports/readers.js'
import type { CallWatch } from './batching-runner.js'

/** Maps a driver's error to an AppError, and returns any other error unchanged. */
type FromDriver = (raw: unknown) => unknown

/**
 * Wraps readers so that they raise AppErrors instead of the driver's errors, and report their
 * outcomes.
 */
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
