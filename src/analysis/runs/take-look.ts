import type { LookRequest, LookResult } from './analysis-runner.js'
import { fetchLook } from './looks/fetch-look.js'
import type { Sources } from './looks/fetch-look.js'
import { canaryWindow, judgeLook } from './looks/judge-look.js'
import type { FetchBudget } from '../sources.js'
import type { LookData } from './looks/look-data.js'
import { packLook } from './looks/pack-look.js'
import { lookCount } from './looks/schedule.js'

/** What all queries of a look together may take, in milliseconds: within the interval, and never for ever. */
const MIN_BUDGET_MS = 30_000
const MAX_BUDGET_MS = 240_000

/** The time within which a look of a run is over, whatever its sources do. */
export function lookBudgetMs(intervalMs: number): number {
  return Math.min(Math.max(intervalMs, MIN_BUDGET_MS), MAX_BUDGET_MS)
}

/** Fetches what a look needs and judges it. */
export async function takeLook(
  { plan, look, after = look - 1, seenLogTemplates }: LookRequest,
  sources: Sources,
  now: () => number,
): Promise<LookResult> {
  const untilMs = now() + lookBudgetMs(plan.timing.intervalMs)
  const remaining = (): FetchBudget => ({ budgetMs: Math.max(0, untilMs - now()) })
  const targets = await fetchLook(plan, look, sources, remaining)
  const isAfterAnother = after !== look - 1
  const data: LookData = { look, ...(isAfterAnother && { after }), targets, seenLogTemplates }
  return { ...judgeLook(plan, data), ...packLook(data) }
}

/** The report of a look that could not be taken: nothing is known, so nothing passes. */
export function failedLook({ plan, look }: LookRequest, error: Error): LookResult {
  const reason = `the look could not be taken: ${error.message}`
  return {
    report: {
      look,
      looks: lookCount(plan.timing),
      canaryWindow: canaryWindow(plan, look),
      score: 0,
      verdict: 'Fail',
      reason,
      endsRun: false,
      isUnanswered: true,
      errors: [reason],
      targets: [],
    },
    ...packLook({ look, targets: [], seenLogTemplates: [] }),
    logTemplates: [],
  }
}
