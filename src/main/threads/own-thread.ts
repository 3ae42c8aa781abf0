import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'
import { AppError, hasErrorCode } from '../../errors/app-error.js'

/** The code of what is raised when the thread died of its work, and was neither given up nor too slow. */
export const THREAD_LOST = 'thread_lost'

/** A thread that is started for one piece of work. */
export interface OwnThread {
  readonly script: URL
  readonly options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>
  /** What to say when its memory did not suffice. */
  readonly outgrown: string
  /** What to say when `givenUp` is aborted. */
  readonly abandoned: string
  readonly givenUp: AbortSignal | undefined
  /** In milliseconds; without it the thread may take as long as it likes. */
  readonly limitMs?: number
}

/** Ends the work, well or badly; only the first call counts. */
interface WorkEnd<Result> {
  readonly done: (result: Result) => void
  readonly failed: (error: Error) => void
}

/**
 * Has a thread of its own do one piece of work: `converse` sends it what there is to do and listens until the work has ended. The
 * thread ends with it, and gives its memory back. Raises `unavailable` when it is given up, takes too long, outgrows its memory
 * or dies.
 */
export async function workInOwnThread<Result>(
  { script, options, outgrown, abandoned, givenUp, limitMs }: OwnThread,
  converse: (thread: Worker, end: WorkEnd<Result>) => void,
): Promise<Result> {
  const thread = new Worker(script, options)
  let timer: NodeJS.Timeout | undefined
  let stop = (): void => undefined
  try {
    return await new Promise<Result>((done, failed) => {
      const failedFor = (message: string, cause?: Error): void =>
        failed(new AppError('unavailable', message, { cause }))
      const lost = (message: string, cause?: Error): void =>
        failed(new AppError('unavailable', message, { cause, code: THREAD_LOST }))
      if (limitMs !== undefined) {
        timer = setTimeout(() => failedFor(`it took longer than ${limitMs / 1000} seconds`), limitMs)
      }
      stop = () => failedFor(abandoned)
      givenUp?.addEventListener('abort', stop)
      if (givenUp?.aborted === true) stop()
      thread.on('error', (cause) =>
        lost(hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY') ? outgrown : cause.message, cause),
      )
      thread.on('exit', () => lost('its thread ended'))
      converse(thread, { done, failed })
    })
  } finally {
    clearTimeout(timer)
    givenUp?.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
