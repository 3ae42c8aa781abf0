import type { BatchRow } from './decision-batch.js'
import type { DecisionOutcome } from './decision-log.js'

/**
 * Which decisions are reported: denials and errors with an execution or application; with
 * `executions`, also all others with an execution.
 */
export type ReportedDecisions = 'denied' | 'executions'

/** A reported decision, masked like the log's. */
export interface ReportedDecision extends Omit<
  BatchRow,
  'durationNs' | 'inputBytes' | 'input' | 'resultBytes' | 'result' | 'ndBuiltinCache' | 'packages'
> {
  /** JSON text; its beginning if `isResultCut`. */
  readonly result: string | null
  readonly isResultCut: boolean
}

/**
 * Why a decision is in no report: the rate limit, a full decision log, a full queue of reports, or
 * a failed write. `log_failed` counts all decisions that the log lost, reportable or not.
 */
export type OmissionReason = 'over_rate' | 'log_full' | 'log_failed' | 'too_many_waiting' | 'write_failed'

/** Newly written decisions, and the number of missing ones. */
export interface DecisionReport {
  readonly decisions: readonly ReportedDecision[]
  readonly omitted: Readonly<Partial<Record<OmissionReason, number>>>
}

/** Members that determine whether a decision is reported. */
export interface ReportableDecision {
  readonly outcome: DecisionOutcome | (string & {})
  readonly application?: string | null | undefined
  readonly executionId?: string | null | undefined
}

/** Whether a decision is a denial or an error. */
export function isRefusal({ outcome }: Pick<ReportableDecision, 'outcome'>): boolean {
  return outcome === 'deny' || outcome === 'error'
}

/** Whether a decision is reported. */
export function isReportable(reported: ReportedDecisions, decision: ReportableDecision): boolean {
  const { application, executionId } = decision
  const hasExecution = typeof executionId === 'string'
  if (isRefusal(decision)) return hasExecution || typeof application === 'string'
  return reported === 'executions' && hasExecution
}
