import type { BatchRow } from './decision-batch.js'
import { isRefusal, isReportable } from './decision-report.js'
import type { DecisionReport, ReportedDecision, ReportedDecisions } from './decision-report.js'
import { ReportBudget } from './report-budget.js'

/** Which decisions are reported, and how many. */
export interface ReportOptions {
  readonly reported: ReportedDecisions
  /** Averaged over a minute. */
  readonly perSecond: number
}

/** A result is no longer in a report: the log has all that was stored of it. */
const MAX_RESULT_BYTES = 2048
const MAX_ERROR_LENGTH = 1024

/** Chooses, among the decisions as they are written, those that are reported. */
export class DecisionReporter {
  readonly #options: ReportOptions
  readonly #budget: ReportBudget
  #decisions: ReportedDecision[] = []
  #overRate = 0

  constructor(options: ReportOptions) {
    this.#options = options
    this.#budget = new ReportBudget(options.perSecond)
  }

  /** Looks at a decision without secrets; `isResultCut` says that the end of its result is missing. */
  offer(row: BatchRow, isResultCut: boolean): void {
    if (!isReportable(this.#options.reported, row)) return
    if (this.#budget.spend(row.timeMs, isRefusal(row))) this.#decisions.push(toReported(row, isResultCut))
    else this.#overRate += 1
  }

  /** What was chosen since the last time; undefined when there was nothing to choose. */
  take(): DecisionReport | undefined {
    const [decisions, overRate] = [this.#decisions, this.#overRate]
    if (decisions.length + overRate === 0) return undefined
    this.#decisions = []
    this.#overRate = 0
    return { decisions, omitted: overRate === 0 ? {} : { over_rate: overRate } }
  }
}

function toReported(row: BatchRow, isResultCut: boolean): ReportedDecision {
  const { decisionId, timeMs, kind, path, revision, outcome, result } = row
  const { application, executionId, caller, requestId } = row
  // Streaming: half a character at the end of what was cut is left out.
  const text = result && new TextDecoder().decode(result.subarray(0, MAX_RESULT_BYTES), { stream: true })
  return {
    ...{ decisionId, timeMs, kind, path, revision, outcome, application, executionId, caller, requestId },
    error: row.error?.slice(0, MAX_ERROR_LENGTH) ?? null,
    result: text,
    isResultCut: isResultCut || (result?.length ?? 0) > MAX_RESULT_BYTES,
  }
}
