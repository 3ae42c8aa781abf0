import { toError } from '../errors.js'

/** Work that is done every so often, never twice at a time. */
export interface Repeated {
  /** Does it now, or once more after the run under way. */
  readonly runNow: () => Promise<void>
  /** Starts no further run, and waits for the one under way. */
  readonly stop: () => Promise<void>
}

/** Starts to repeat; a run that fails is told of, and the next one comes all the same. */
export function repeat(
  intervalMs: number,
  act: () => Promise<void>,
  failed: (error: Error) => void,
): Repeated {
  let running: Promise<void> | undefined
  const run = (): Promise<void> => {
    running ??= act()
      .catch((raw: unknown) => failed(toError(raw)))
      .finally(() => {
        running = undefined
      })
    return running
  }
  const timer = setInterval(() => void run(), intervalMs)
  timer.unref()
  return {
    runNow: async () => {
      await running
      await run()
    },
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
