import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'
import { AppError, hasErrorCode } from '../../errors/app-error.js'

/** Error code if the thread died during its work. */
export const THREAD_LOST = 'thread_lost'

/** A thread that is started for one task. */
export interface OwnThread {
  readonly script: URL
  readonly options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>
  /** Error message if its memory was not sufficient. */
  readonly outgrown: string
  /** Error message if `givenUp` is aborted. */
  readonly abandoned: string
  readonly givenUp: AbortSignal | undefined
  /** Time limit in milliseconds. No limit by default. */
  readonly limitMs?: number
}

/** Ends the task with a result or an error. Only the first call counts. */
interface WorkEnd<Result> {
  readonly done: (result: Result) => void
  readonly failed: (error: Error) => void
}

/**
 * Runs one task in a separate thread: `converse` sends it the task and listens until it ends. The
 * thread then ends and frees its memory. Throws `unavailable` if the task is given up, takes too
 * long, exceeds its memory limit or dies.
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
      thread.on('exit', () => lost('its thread ended unexpectedly'))
      converse(thread, { done, failed })
    })
  } finally {
    clearTimeout(timer)
    givenUp?.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
