import type { BatchRow } from './decision-batch.js'
import { isRefusal, isReportable } from './decision-report.js'
import type { DecisionReport, ReportedDecision, ReportedDecisions } from './decision-report.js'

/** Outcomes whose decisions are reported, and the maximum rate. */
export interface ReportOptions {
  readonly reported: ReportedDecisions
  /** Average over a minute. */
  readonly perSecond: number
}

/** Maximum size of a result in a report, in bytes. The decision log may store more of it. */
const MAX_RESULT_BYTES = 2048
const MAX_ERROR_LENGTH = 1024

/** Selects written decisions to report. */
export class DecisionReporter {
  readonly #options: ReportOptions
  readonly #budget: ReportBudget
  #decisions: ReportedDecision[] = []
  #overRate = 0

  constructor(options: ReportOptions) {
    this.#options = options
    this.#budget = new ReportBudget(options.perSecond)
  }

  /**
   * Selects a redacted decision if it is reportable and within the rate. `isResultCut` is true if
   * its result is incomplete.
   */
  offer(row: BatchRow, isResultCut: boolean): void {
    if (!isReportable(this.#options.reported, row)) return
    if (this.#budget.spend(row.timeMs, isRefusal(row))) this.#decisions.push(toReported(row, isResultCut))
    else this.#overRate += 1
  }

  /** Returns the decisions selected since the last call; undefined without any. */
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
  const { application, executionId, caller, requestId, traceId } = row
  // Streaming omits half a character at the cut.
  const text = result && new TextDecoder().decode(result.subarray(0, MAX_RESULT_BYTES), { stream: true })
  return {
    ...{ decisionId, timeMs, kind, path, revision, outcome },
    ...{ application, executionId, caller, requestId, traceId },
    error: row.error?.slice(0, MAX_ERROR_LENGTH) ?? null,
    result: text,
    isResultCut: isResultCut || (result?.length ?? 0) > MAX_RESULT_BYTES,
  }
}

const MS_PER_SECOND = 1000
const BURST_SECONDS = 60
/** Longer than any evaluation. */
const MAX_EVALUATION_MS = 300_000
/**
 * Share of the rate for decisions that are not refusals, so that these cannot crowd out refusals.
 */
const SHARE_OF_OTHERS = 0.5

/** Rate limit averaged over a minute, so that a burst passes. */
export class ReportBudget {
  readonly #perSecond: number
  readonly #capacity: number
  #left: number
  #atMs = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#capacity = perSecond * BURST_SECONDS
    this.#left = this.#capacity
  }

  /** Spends one unit for a decision made at `timeMs`. Returns false if the budget is used up. */
  spend(timeMs: number, isRefusal: boolean): boolean {
    this.#refill(timeMs)
    const reserved = isRefusal ? 0 : this.#capacity * SHARE_OF_OTHERS
    if (this.#left - 1 < reserved) return false
    this.#left -= 1
    return true
  }

  #refill(timeMs: number): void {
    const passedMs = timeMs - this.#atMs
    // Slow decisions arrive after later ones. Their time is not added twice.
    if (passedMs < 0 && passedMs > -MAX_EVALUATION_MS) return
    // A clock that was set back starts from its new time.
    this.#atMs = timeMs
    this.#left = Math.min(
      this.#capacity,
      this.#left + (Math.max(0, passedMs) / MS_PER_SECOND) * this.#perSecond,
    )
  }
}
