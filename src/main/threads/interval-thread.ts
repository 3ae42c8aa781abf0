import type { Worker } from 'node:worker_threads'

import type { IntervalRequest, IntervalResult } from '../../analysis/runs/analysis-runner.js'
import { intervalBudgetMs } from '../../analysis/runs/intervals/schedule.js'
import type { BacktestPart, BacktestTask } from '../../analysis/runs/backtest/backtest.js'
import { TRY_BUDGET_MS } from '../../analysis/runs/intervals/try-queries.js'
import type { TriedPlan, TryTask } from '../../analysis/runs/intervals/try-queries.js'
import type { EvaluateRule, RuleAnswer } from '../../analysis/runs/checks/check.js'
import type { Config } from '../../config/config.js'
import { AppError, toError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { workInOwnThread } from './own-thread.js'

/** Start options of the thread that judges intervals. */
export interface IntervalThreadOptions {
  readonly analysis: Config['analysis']
}

/** Functions that the deciding thread runs for the interval thread. */
export interface IntervalHelp {
  readonly reportDefect: (error: string) => void
  readonly askRule: EvaluateRule
}

/** A message to the thread: a task, or the result of a rule. */
export type IntervalThreadInput =
  | { readonly type: 'judge'; readonly request: IntervalRequest }
  | { readonly type: 'try'; readonly task: TryTask }
  | { readonly type: 'backtest'; readonly task: BacktestTask }
  | { readonly type: 'ruleResult'; readonly id: number; readonly answer: RuleAnswer }

/** A message from the thread. `done` or `failed` ends a task. */
export type IntervalThreadOutput =
  | { readonly type: 'done'; readonly result: unknown }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string | undefined }
  | { readonly type: 'defect'; readonly error: string }
  | { readonly type: 'rule'; readonly id: number; readonly rule: string; readonly input: object }

const SCRIPT = threadScript('analysis')
const THREAD_LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 }
/** Time for judging, in addition to the query budget. Two million log lines take a while. */
const JUDGING_MS = 120_000

/** Judges one interval in a separate thread. Rejects when `givenUp` is aborted. */
export async function evaluateIntervalInThread(
  options: IntervalThreadOptions,
  request: IntervalRequest,
  help: IntervalHelp,
  givenUp: AbortSignal,
): Promise<IntervalResult> {
  const limitMs = intervalBudgetMs(request.plan.timing.intervalMs) + JUDGING_MS
  return runTask(options, { type: 'judge', request }, { limitMs, givenUp }, help)
}

/**
 * Runs every query of a plan once in a separate thread, and judges the results if requested. Throws `unavailable` as `workInOwnThread`.
 */
export async function tryQueriesInThread(
  options: IntervalThreadOptions,
  task: TryTask,
  help: IntervalHelp,
): Promise<TriedPlan> {
  const limits = { limitMs: TRY_BUDGET_MS + JUDGING_MS, givenUp: undefined }
  return runTask(options, { type: 'try', task }, limits, help)
}

/** Judges past windows in a separate thread. Throws `unavailable` as `workInOwnThread`. */
export async function backtestInThread(
  options: IntervalThreadOptions,
  task: BacktestTask,
  help: IntervalHelp,
): Promise<BacktestPart> {
  const limits = { limitMs: TRY_BUDGET_MS + JUDGING_MS, givenUp: undefined }
  return runTask(options, { type: 'backtest', task }, limits, help)
}

/** The result has the type that belongs to the task. */
async function runTask<Result>(
  options: IntervalThreadOptions,
  task: IntervalThreadInput,
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
      thread.on('message', (answer: IntervalThreadOutput) => {
        if (answer.type === 'done') done(answer.result as Result)
        else if (answer.type === 'failed')
          failed(new AppError('internal', answer.message, { cause: answer.stack }))
        else if (answer.type === 'defect') reportDefect(answer.error)
        else sendRuleResult(thread, answer, askRule).catch((raw: unknown) => failed(toError(raw)))
      })
      thread.postMessage(task)
    },
  )
}

/** A thread that has ended ignores the message. */
async function sendRuleResult(
  thread: Worker,
  { id, rule, input }: Extract<IntervalThreadOutput, { type: 'rule' }>,
  askRule: EvaluateRule,
): Promise<void> {
  const result: IntervalThreadInput = { type: 'ruleResult', id, answer: await askRule(rule, input) }
  thread.postMessage(result)
}
