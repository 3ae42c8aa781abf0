import type { BatchRow } from './decision-batch.js'
import type { DecisionOutcome } from './decision-log.js'

/** Which decisions are reported: denials and errors that name an execution or an application; with `executions`, all that name an execution too. */
export type ReportedDecisions = 'denied' | 'executions'

/** A decision for those who keep some apart from the log; masked as the log's is. */
export interface ReportedDecision extends Omit<
  BatchRow,
  'durationNs' | 'inputBytes' | 'input' | 'resultBytes' | 'result' | 'ndBuiltinCache' | 'packages'
> {
  /** JSON text, or its first part where `isResultCut`. */
  readonly result: string | null
  readonly isResultCut: boolean
}

/**
 * Why decisions that belong into reports are in none: too many in a minute, no room in the decision log, too many waiting for who
 * takes reports, or that one failed. Of `log_failed`, all decisions that the log lost, it is not known whether they belong there.
 */
export type OmissionReason = 'over_rate' | 'log_full' | 'log_failed' | 'too_many_waiting' | 'write_failed'

/** Some decisions that were just written to the log, and how many are missing among them. */
export interface DecisionReport {
  readonly decisions: readonly ReportedDecision[]
  readonly omitted: Readonly<Partial<Record<OmissionReason, number>>>
}

/** What tells whether a decision is to be reported. */
export interface ReportableDecision {
  readonly outcome: DecisionOutcome | (string & {})
  readonly application?: string | null | undefined
  readonly executionId?: string | null | undefined
}

/** Whether a decision says no, or failed to say anything. */
export function isRefusal({ outcome }: Pick<ReportableDecision, 'outcome'>): boolean {
  return outcome === 'deny' || outcome === 'error'
}

/** Whether a decision is to be reported. */
export function isReportable(reported: ReportedDecisions, decision: ReportableDecision): boolean {
  const { application, executionId } = decision
  const hasExecution = typeof executionId === 'string'
  if (isRefusal(decision)) return hasExecution || typeof application === 'string'
  return reported === 'executions' && hasExecution
}
