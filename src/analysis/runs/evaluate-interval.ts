import type { IntervalRequest, IntervalResult } from './analysis-runner.js'
import type { AskRule } from './checks/check.js'
import { fetchInterval } from './intervals/fetch-interval.js'
import type { Sources } from './intervals/fetch-interval.js'
import { canaryWindow, judgeInterval } from './intervals/judge-interval.js'
import type { FetchBudget } from '../sources.js'
import type { IntervalData } from './intervals/interval-data.js'
import { packInterval } from './intervals/pack-interval.js'
import { intervalCount } from './intervals/schedule.js'

/** What all queries of an interval together may take, in milliseconds: within the interval, and never for ever. */
const MIN_BUDGET_MS = 30_000
const MAX_BUDGET_MS = 240_000

/** The time within which an interval of a run is over, whatever its sources do. */
export function intervalBudgetMs(intervalMs: number): number {
  return Math.min(Math.max(intervalMs, MIN_BUDGET_MS), MAX_BUDGET_MS)
}

/** Fetches what an interval needs and judges it. */
export async function evaluateInterval(
  { plan, interval, after = interval - 1, seenLogTemplates, usualSpreads = [] }: IntervalRequest,
  sources: Sources,
  now: () => number,
  askRule?: AskRule,
): Promise<IntervalResult> {
  const untilMs = now() + intervalBudgetMs(plan.timing.intervalMs)
  const remaining = (): FetchBudget => ({ budgetMs: Math.max(0, untilMs - now()) })
  const targets = await fetchInterval(plan, interval, sources, remaining, askRule)
  const isAfterAnother = after !== interval - 1
  const data: IntervalData = {
    ...{ look: interval, targets, seenLogTemplates },
    ...(isAfterAnother && { after }),
    ...(usualSpreads.length > 0 && { usualSpreads }),
  }
  return { ...judgeInterval(plan, data), ...packInterval(data) }
}

/** The report of an interval that could not be judged: nothing is known, so nothing passes. */
export function failedInterval({ plan, interval }: IntervalRequest, error: Error): IntervalResult {
  const reason = `the interval could not be judged: ${error.message}`
  return {
    report: {
      look: interval,
      looks: intervalCount(plan.timing),
      canaryWindow: canaryWindow(plan, interval),
      score: 0,
      verdict: 'Fail',
      reason,
      endsRun: false,
      isUnanswered: true,
      errors: [reason],
      targets: [],
    },
    ...packInterval({ look: interval, targets: [], seenLogTemplates: [] }),
    logTemplates: [],
  }
}
