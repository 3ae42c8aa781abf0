import type { RunProgress, StoredRun } from '../../../store/ports/analysis-store.js'
import type { IntervalReport } from './interval-report.js'
import type { RunPlan } from '../definitions/plan.js'
import { intervalDueMs } from './schedule.js'

/**
 * The state of a run after an interval. It ends with its last interval, with a critical change that
 * later intervals cannot undo, and with a failed interval in a run of Kayenta's judge or of a
 * window that does not include earlier data: Kayenta's rule for each of its judgements.
 */
export function afterInterval(
  run: Pick<StoredRun, 'id' | 'intervalsDone'>,
  plan: RunPlan,
  report: IntervalReport,
  nowMs: number,
): RunProgress {
  const { look: interval, looks: intervals, score, unscored, verdict, reason, errors } = report
  const common = { id: run.id, intervalsDone: interval, score, unscored, verdict, errors, updatedMs: nowMs }
  if (isOver(plan, report)) {
    const early = interval < intervals ? ` (ended early, at interval ${interval} of ${intervals})` : ''
    return {
      ...common,
      state: 'COMPLETED',
      message: reason + early + leftOut(run.intervalsDone, interval),
      finishedMs: nowMs,
      nextIntervalMs: nowMs,
    }
  }
  return {
    ...common,
    state: 'RUNNING',
    message: `Interval ${interval} of ${intervals}: ${reason}`,
    nextIntervalMs: intervalDueMs(plan.timing, interval + 1),
  }
}

function leftOut(intervalsDone: number, interval: number): string {
  const count = interval - intervalsDone - 1
  return count > 0 ? ` (intervals skipped because the run was late: ${count})` : ''
}

function isOver(
  { judge, timing }: RunPlan,
  { look: interval, looks: intervals, verdict, endsRun, isUnanswered }: IntervalReport,
): boolean {
  if (interval >= intervals || endsRun) return true
  return verdict === 'Fail' && !isUnanswered && (judge === 'kayenta' || timing.lookBackMs !== undefined)
}
