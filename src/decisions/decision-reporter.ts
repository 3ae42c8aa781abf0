import type { BatchRow } from './decision-batch.js'
import { isRefusal, isReportable } from './decision-report.js'
import type { DecisionReport, ReportedDecision, ReportedDecisions } from './decision-report.js'

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

const MS_PER_SECOND = 1000
const BURST_SECONDS = 60
/** No evaluation takes so long. */
const LATEST_MS = 300_000
/** The rest is stored for refusals, so that a flood of others cannot crowd them out. */
const SHARE_OF_OTHERS = 0.5

/** How many decisions may be reported: a rate that holds over a minute, so that a burst within it passes whole. */
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

  /** Takes one decision from the budget, made at a time in milliseconds; false when there is nothing left for it. */
  spend(timeMs: number, isRefusal: boolean): boolean {
    this.#refill(timeMs)
    const reserved = isRefusal ? 0 : this.#capacity * SHARE_OF_OTHERS
    if (this.#left - 1 < reserved) return false
    this.#left -= 1
    return true
  }

  #refill(timeMs: number): void {
    const passedMs = timeMs - this.#atMs
    // Decisions that took long come behind later ones: the time since is not given twice.
    if (passedMs < 0 && passedMs > -LATEST_MS) return
    // A clock that was set back starts again from there.
    this.#atMs = timeMs
    this.#left = Math.min(
      this.#capacity,
      this.#left + (Math.max(0, passedMs) / MS_PER_SECOND) * this.#perSecond,
    )
  }
}
