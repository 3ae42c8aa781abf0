import type { RunProgress, StoredRun } from '../../../store/ports/analysis-store.js'
import type { LookReport } from './look-report.js'
import type { RunPlan } from '../definitions/plan.js'
import { lookDueMs } from './schedule.js'

/**
 * Where a run stands after a look. It ends with its last look, when a critical change can no longer be mended, and when a
 * look says Fail to a judge or a window that does not carry earlier data along: Kayenta's rule for each of its judgements.
 */
export function afterLook(
  run: Pick<StoredRun, 'id' | 'looksDone'>,
  plan: RunPlan,
  report: LookReport,
  nowMs: number,
): RunProgress {
  const { look, looks, score, verdict, reason, errors } = report
  const common = { id: run.id, looksDone: look, score, verdict, errors, updatedMs: nowMs }
  if (isOver(plan, report)) {
    const early = look < looks ? ` (ended early, at look ${look} of ${looks})` : ''
    return {
      ...common,
      state: 'COMPLETED',
      message: reason + early + leftOut(run.looksDone, look),
      finishedMs: nowMs,
      nextLookMs: nowMs,
    }
  }
  return {
    ...common,
    state: 'RUNNING',
    message: `look ${look} of ${looks}: ${reason}`,
    nextLookMs: lookDueMs(plan.timing, look + 1),
  }
}

function leftOut(looksDone: number, look: number): string {
  const count = look - looksDone - 1
  return count > 0 ? ` (looks left out, the run being late: ${count})` : ''
}

function isOver(
  { judge, timing }: RunPlan,
  { look, looks, verdict, endsRun, isUnanswered }: LookReport,
): boolean {
  if (look >= looks || endsRun) return true
  return verdict === 'Fail' && !isUnanswered && (judge === 'kayenta' || timing.lookBackMs !== undefined)
}
