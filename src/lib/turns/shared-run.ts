import { setImmediate } from 'node:timers/promises'

/** Resolves when it is the turn of whoever asks; undefined where it is already. */
export type UntilTurn = () => Promise<void> | undefined

/** To so many it is given in one turn of the event loop. */
const MOST_SHARING = 64

interface Run<T> {
  readonly result: Promise<T>
  sharing: number
}

/** Has those who ask for the same before it is begun share one run of the work, in another turn of the event loop and at the turn of the first of them. */
export function sharedRun<T>(work: () => Promise<T>): (untilTurn: UntilTurn) => Promise<T> {
  let next: Run<T> | undefined
  const start = (untilTurn: UntilTurn): Run<T> => {
    const run: Run<T> = { result: begin(untilTurn, () => run), sharing: 0 }
    return run
  }
  const begin = async (untilTurn: UntilTurn, own: () => Run<T>): Promise<T> => {
    await setImmediate()
    // The first one may have gone, or be told that it is too late: the others ask nevertheless.
    await untilTurn()?.catch(() => undefined)
    if (next === own()) next = undefined
    return await work()
  }
  return (untilTurn) => {
    if (next === undefined || next.sharing === MOST_SHARING) next = start(untilTurn)
    next.sharing += 1
    return next.result
  }
}
