import { Worker } from 'node:worker_threads'
import type { LookRequest, LookResult } from '../analysis/runs/analysis-runner.js'
import { lookBudgetMs } from '../analysis/runs/take-look.js'
import type { Config } from '../config/config.js'
import { AppError, hasErrorCode } from '../errors.js'

/** What the thread that takes looks is started with. */
export interface LookThreadOptions {
  readonly analysis: Config['analysis']
}

/** From the thread; each request is answered by `taken` or `failed`. */
export type LookAnswer =
  | { readonly type: 'taken'; readonly result: LookResult }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string | undefined }
  | { readonly type: 'defect'; readonly error: string }

const SCRIPT = new URL('../analysis-thread.js', import.meta.url)
const THREAD_LIMITS = { maxOldGenerationSizeMb: 1024 }
/** Beside the budget of the queries: judging two million lines takes its time too. */
const JUDGING_MS = 120_000

/** Takes one look in a thread of its own, which ends with it: its memory is given back, and nothing it does can hold others up. Rejects once it is given up. */
export async function takeLookInThread(
  options: LookThreadOptions,
  request: LookRequest,
  reportDefect: (error: string) => void,
  givenUp: AbortSignal,
): Promise<LookResult> {
  const thread = new Worker(SCRIPT, { workerData: options, resourceLimits: THREAD_LIMITS })
  const limitMs = lookBudgetMs(request.plan.timing.intervalMs) + JUDGING_MS
  let timer: NodeJS.Timeout | undefined
  let stop = (): void => undefined
  try {
    return await new Promise<LookResult>((resolve, reject) => {
      timer = setTimeout(() => {
        reject(new AppError('unavailable', `it took longer than ${limitMs / 1000} seconds`))
      }, limitMs)
      stop = () => reject(new AppError('unavailable', 'the look was given up'))
      givenUp.addEventListener('abort', stop)
      if (givenUp.aborted) stop()
      thread.on('message', (answer: LookAnswer) => {
        if (answer.type === 'taken') resolve(answer.result)
        else if (answer.type === 'failed')
          reject(new AppError('internal', answer.message, { cause: answer.stack }))
        else reportDefect(answer.error)
      })
      thread.on('error', (cause) => reject(toFailure(cause)))
      thread.on('exit', () => reject(new AppError('unavailable', 'its thread ended')))
      thread.postMessage(request)
    })
  } finally {
    clearTimeout(timer)
    givenUp.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

function toFailure(cause: Error): AppError {
  const isFull = hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY')
  const message = isFull ? 'the data are too large: narrow the query or its limits' : cause.message
  return new AppError('unavailable', message, { cause })
}
