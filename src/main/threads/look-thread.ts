import type { LookRequest, LookResult } from '../../analysis/runs/analysis-runner.js'
import { lookBudgetMs } from '../../analysis/runs/take-look.js'
import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { workInOwnThread } from './own-thread.js'

/** What the thread that takes looks is started with. */
export interface LookThreadOptions {
  readonly analysis: Config['analysis']
}

/** From the thread; each request is answered by `taken` or `failed`. */
export type LookAnswer =
  | { readonly type: 'taken'; readonly result: LookResult }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string | undefined }
  | { readonly type: 'defect'; readonly error: string }

const SCRIPT = threadScript('analysis')
const THREAD_LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }
/** Beside the budget of the queries: judging two million lines takes its time too. */
const JUDGING_MS = 120_000

/** Takes one look in a thread of its own: nothing it does can hold others up. Rejects once it is given up. */
export async function takeLookInThread(
  options: LookThreadOptions,
  request: LookRequest,
  reportDefect: (error: string) => void,
  givenUp: AbortSignal,
): Promise<LookResult> {
  return workInOwnThread<LookResult>(
    {
      script: SCRIPT,
      options: { workerData: options, resourceLimits: THREAD_LIMITS },
      outgrown: 'the data are too large: narrow the query or its limits',
      abandoned: 'the look was given up',
      givenUp,
      limitMs: lookBudgetMs(request.plan.timing.intervalMs) + JUDGING_MS,
    },
    (thread, { done, failed }) => {
      thread.on('message', (answer: LookAnswer) => {
        if (answer.type === 'taken') done(answer.result)
        else if (answer.type === 'failed')
          failed(new AppError('internal', answer.message, { cause: answer.stack }))
        else reportDefect(answer.error)
      })
      thread.postMessage(request)
    },
  )
}
