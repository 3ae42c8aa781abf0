import type { IntervalRequest, IntervalResult } from './analysis-runner.js'
import type { EvaluateRule } from './checks/check.js'
import { fetchInterval } from './intervals/fetch-interval.js'
import type { Sources } from './intervals/fetch-interval.js'
import { judgeInterval } from './intervals/judge-interval.js'
import type { FetchBudget } from '../sources.js'
import type { IntervalData } from './intervals/interval-data.js'
import { packInterval } from './intervals/pack-interval.js'
import { intervalBudgetMs } from './intervals/schedule.js'

/** Fetches what an interval needs and judges it. */
export async function evaluateInterval(
  { plan, interval, after = interval - 1, seenLogTemplates, usualSpreads = [] }: IntervalRequest,
  sources: Sources,
  now: () => number,
  evaluateRule?: EvaluateRule,
): Promise<IntervalResult> {
  const untilMs = now() + intervalBudgetMs(plan.timing.intervalMs)
  const remaining = (): FetchBudget => ({ budgetMs: Math.max(0, untilMs - now()) })
  const targets = await fetchInterval(plan, interval, sources, remaining, evaluateRule)
  const isAfterAnother = after !== interval - 1
  const data: IntervalData = {
    ...{ look: interval, targets, seenLogTemplates },
    ...(isAfterAnother && { after }),
    ...(usualSpreads.length > 0 && { usualSpreads }),
  }
  return { ...judgeInterval(plan, data), ...packInterval(data) }
}
