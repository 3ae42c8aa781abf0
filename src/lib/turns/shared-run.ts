import { setImmediate } from 'node:timers/promises'

/** Resolves at the caller's turn. Undefined if it is the caller's turn already. */
export type UntilTurn = () => Promise<void> | undefined

/**
 * Maximum number of callers that get one result, so that delivery fits one turn of the event loop.
 */
const MAX_SHARING = 64

interface Run<T> {
  readonly result: Promise<T>
  sharing: number
}

/**
 * Makes calls that arrive before the work starts share one run of it. The run starts in a later
 * turn of the event loop, at the turn of the first caller.
 */
export function sharedRun<T>(work: () => Promise<T>): (untilTurn: UntilTurn) => Promise<T> {
  let next: Run<T> | undefined
  const start = (untilTurn: UntilTurn): Run<T> => {
    const run: Run<T> = { result: begin(untilTurn, () => run), sharing: 0 }
    return run
  }
  const begin = async (untilTurn: UntilTurn, own: () => Run<T>): Promise<T> => {
    await setImmediate()
    // The first caller may have gone or be refused. The others still need the result.
    await untilTurn()?.catch(() => undefined)
    if (next === own()) next = undefined
    return await work()
  }
  return (untilTurn) => {
    if (next === undefined || next.sharing === MAX_SHARING) next = start(untilTurn)
    next.sharing += 1
    return next.result
  }
}
