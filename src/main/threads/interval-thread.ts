import type { IntervalRequest, IntervalResult } from '../../analysis/runs/analysis-runner.js'
import { intervalBudgetMs } from '../../analysis/runs/evaluate-interval.js'
import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { workInOwnThread } from './own-thread.js'

/** What the thread that judges intervals is started with. */
export interface IntervalThreadOptions {
  readonly analysis: Config['analysis']
}

/** From the thread; each request is answered by `taken` or `failed`. */
export type IntervalAnswer =
  | { readonly type: 'taken'; readonly result: IntervalResult }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string | undefined }
  | { readonly type: 'defect'; readonly error: string }

const SCRIPT = threadScript('analysis')
const THREAD_LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }
/** Beside the budget of the queries: judging two million lines takes its time too. */
const JUDGING_MS = 120_000

/** Judges one interval in a thread of its own: nothing it does can hold others up. Rejects once it is given up. */
export async function evaluateIntervalInThread(
  options: IntervalThreadOptions,
  request: IntervalRequest,
  reportDefect: (error: string) => void,
  givenUp: AbortSignal,
): Promise<IntervalResult> {
  return workInOwnThread<IntervalResult>(
    {
      script: SCRIPT,
      options: { workerData: options, resourceLimits: THREAD_LIMITS },
      outgrown: 'the data are too large: narrow the query or its limits',
      abandoned: 'the interval was given up',
      givenUp,
      limitMs: intervalBudgetMs(request.plan.timing.intervalMs) + JUDGING_MS,
    },
    (thread, { done, failed }) => {
      thread.on('message', (answer: IntervalAnswer) => {
        if (answer.type === 'taken') done(answer.result)
        else if (answer.type === 'failed')
          failed(new AppError('internal', answer.message, { cause: answer.stack }))
        else reportDefect(answer.error)
      })
      thread.postMessage(request)
    },
  )
}
