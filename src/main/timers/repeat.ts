import { toError } from '../../errors/app-error.js'

/** Work that is done every so often, never twice at a time. */
export interface Repeated {
  /** Does it now, or once more after the run under way; nothing when it was stopped. */
  readonly runNow: () => Promise<void>
  /** Starts no further run, aborts the signal of the one under way, and waits for it. */
  readonly stop: () => Promise<void>
}

/** A failure that stays is told of so often: what runs every moment would fill the log with it, and maybe the disk. */
const SAME_FAILURE_MS = 60_000

/** Starts to repeat; a run that fails is told of, once a minute while it fails the same way, and the next one comes all the same. */
export function repeat(
  intervalMs: number,
  act: (signal: AbortSignal) => Promise<void>,
  failed: (error: Error) => void,
): Repeated {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let told: { readonly message: string; readonly atMs: number } | undefined
  const tell = (error: Error): void => {
    const atMs = performance.now()
    if (told?.message === error.message && atMs - told.atMs < SAME_FAILURE_MS) return
    told = { message: error.message, atMs }
    failed(error)
  }
  const run = (): Promise<void> => {
    if (stopping.signal.aborted) return Promise.resolve()
    running ??= act(stopping.signal)
      .then(() => {
        told = undefined
      })
      .catch((raw: unknown) => tell(toError(raw)))
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

/** Calls back once after this many milliseconds, unless the function that it gives is called first. It holds no process alive. */
export function setUnrefTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
