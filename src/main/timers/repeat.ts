import { AsyncLocalStorage } from 'node:async_hooks'

import { toError } from '../../errors/app-error.js'

/** A periodic task. Runs never overlap. */
export interface Repeated {
  /** Runs the task now, after the current run if there is one. Does nothing once stopped. */
  readonly runNow: () => Promise<void>
  /** Starts no further run, aborts the signal of the current one and waits for it. */
  readonly stop: () => Promise<void>
}

/**
 * Minimum time between two reports of the same failure, so that a short interval cannot flood the
 * log.
 */
const SAME_FAILURE_MS = 60_000

/**
 * Runs a task periodically. A failed run does not stop later ones. The same failure is reported at
 * most once a minute.
 */
export function repeat(
  intervalMs: number,
  act: (signal: AbortSignal) => Promise<void>,
  failed: (error: Error) => void,
): Repeated {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let reported: { readonly message: string; readonly atMs: number } | undefined
  const report = (error: Error): void => {
    const atMs = performance.now()
    if (reported?.message === error.message && atMs - reported.atMs < SAME_FAILURE_MS) return
    reported = { message: error.message, atMs }
    failed(error)
  }
  const run = (): Promise<void> => {
    if (stopping.signal.aborted) return Promise.resolve()
    running ??= act(stopping.signal)
      .then(() => {
        reported = undefined
      })
      .catch((raw: unknown) => report(toError(raw)))
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
      stopping.abort()
      await running
    },
  }
}

/** Calls a function outside of any trace. Timers keep the context of the request that sets them. */
const outsideRequests = AsyncLocalStorage.snapshot()

/**
 * Calls back after a delay in milliseconds, unless the returned function is called first. Does not
 * keep the process alive.
 */
export function setUnrefTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(() => outsideRequests(callback), delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
