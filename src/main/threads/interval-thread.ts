import type { Worker } from 'node:worker_threads'

import type { IntervalRequest, IntervalResult } from '../../analysis/runs/analysis-runner.js'
import { intervalBudgetMs } from '../../analysis/runs/intervals/schedule.js'
import type { RunPlan } from '../../analysis/runs/definitions/plan.js'
import { TRY_BUDGET_MS } from '../../analysis/runs/intervals/try-queries.js'
import type { TriedTarget } from '../../analysis/runs/intervals/try-queries.js'
import type { EvaluateRule, RuleAnswer } from '../../analysis/runs/checks/check.js'
import type { Config } from '../../config/config.js'
import { AppError, toError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { workInOwnThread } from './own-thread.js'

/** What the thread that judges intervals is started with. */
export interface IntervalThreadOptions {
  readonly analysis: Config['analysis']
}

/** What the thread has done for it by the one that decides. */
export interface IntervalHelp {
  readonly reportDefect: (error: string) => void
  readonly askRule: EvaluateRule
}

/** To the thread: what there is to do, and what rules said. */
export type IntervalQuestion =
  | { readonly type: 'judge'; readonly request: IntervalRequest }
  | { readonly type: 'try'; readonly plan: RunPlan }
  | { readonly type: 'said'; readonly id: number; readonly answer: RuleAnswer }

/** From the thread; each request is answered by `taken` or `failed`. */
export type IntervalAnswer =
  | { readonly type: 'taken'; readonly result: unknown }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string | undefined }
  | { readonly type: 'defect'; readonly error: string }
  | { readonly type: 'rule'; readonly id: number; readonly rule: string; readonly input: object }

const SCRIPT = threadScript('analysis')
const THREAD_LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }
/** Beside the budget of the queries: judging two million lines takes its time too. */
const JUDGING_MS = 120_000

/** Judges one interval in a thread of its own: nothing it does can hold others up. Rejects once it is given up. */
export async function evaluateIntervalInThread(
  options: IntervalThreadOptions,
  request: IntervalRequest,
  help: IntervalHelp,
  givenUp: AbortSignal,
): Promise<IntervalResult> {
  const limitMs = intervalBudgetMs(request.plan.timing.intervalMs) + JUDGING_MS
  return askThread(options, { type: 'judge', request }, { limitMs, givenUp }, help)
}

/** Asks every query of a plan once, in a thread of its own. Raises `unavailable` as `workInOwnThread`. */
export async function tryQueriesInThread(
  options: IntervalThreadOptions,
  plan: RunPlan,
  help: IntervalHelp,
): Promise<readonly TriedTarget[]> {
  const limits = { limitMs: TRY_BUDGET_MS + JUDGING_MS, givenUp: undefined }
  return askThread(options, { type: 'try', plan }, limits, help)
}

/** The answer is of the kind that the question asks for. */
async function askThread<Result>(
  options: IntervalThreadOptions,
  question: IntervalQuestion,
  { limitMs, givenUp }: { readonly limitMs: number; readonly givenUp: AbortSignal | undefined },
  { reportDefect, askRule }: IntervalHelp,
): Promise<Result> {
  return workInOwnThread<Result>(
    {
      script: SCRIPT,
      options: { workerData: options, resourceLimits: THREAD_LIMITS },
      outgrown: 'the data are too large: narrow the query or its limits',
      abandoned: 'the interval was given up',
      ...{ givenUp, limitMs },
    },
    (thread, { done, failed }) => {
      thread.on('message', (answer: IntervalAnswer) => {
        if (answer.type === 'taken') done(answer.result as Result)
        else if (answer.type === 'failed')
          failed(new AppError('internal', answer.message, { cause: answer.stack }))
        else if (answer.type === 'defect') reportDefect(answer.error)
        else tell(thread, answer, askRule).catch((raw: unknown) => failed(toError(raw)))
      })
      thread.postMessage(question)
    },
  )
}

/** A thread that has ended meanwhile takes nothing any more. */
async function tell(
  thread: Worker,
  { id, rule, input }: Extract<IntervalAnswer, { type: 'rule' }>,
  askRule: EvaluateRule,
): Promise<void> {
  const said: IntervalQuestion = { type: 'said', id, answer: await askRule(rule, input) }
  thread.postMessage(said)
}
