import type { IntervalRequest, IntervalResult } from './analysis-runner.js'
import { packInterval } from './intervals/pack-interval.js'
import { canaryWindow, intervalCount } from './intervals/schedule.js'

/** The report of an interval that could not be judged: nothing is known, so nothing passes. */
export function failedInterval({ plan, interval }: IntervalRequest, error: Error): IntervalResult {
  const reason = `The interval could not be judged: ${error.message}`
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
