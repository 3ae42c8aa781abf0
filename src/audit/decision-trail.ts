import type { DecisionReport, OmissionReason, ReportedDecision } from '../decisions/decision-report.js'
import { toError } from '../errors/app-error.js'
import type { Writer } from '../store/ports/transaction.js'
import { recordDecisions } from './record-decisions.js'
import type { DecisionGap } from './record-decisions.js'

export interface DecisionTrailDeps {
  readonly writer: Writer
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. */
  readonly steadyNow: () => number
  /** Called for every failed write. */
  readonly failed: (error: Error) => void
  /** Resolves after this many milliseconds. */
  readonly wait: (ms: number) => Promise<void>
  /** Highest number of waiting decisions. */
  readonly maxWaiting?: number
}

/** Metrics of decisions for the trail since the start. */
export interface DecisionTrailMetrics {
  readonly recorded: number
  readonly omitted: Readonly<Partial<Record<OmissionReason, number>>>
}

type Omissions = Partial<Record<OmissionReason, number>>

/** A minute at the default rate. */
const MAX_WAITING = 3000
/** Decisions per write. Low, since others wait for it. */
const MAX_STEP = 50
/**
 * Pause after a write, relative to its time: during a flood of denials, others get most of the
 * time.
 */
const PAUSE = 3

/**
 * Writes decisions to the trail, asynchronously. Decisions that cannot be written are counted, and
 * the trail records the number.
 */
export class DecisionTrail {
  readonly #deps: DecisionTrailDeps
  readonly #omitted: Omissions = {}
  #waiting: ReportedDecision[] = []
  #running: Promise<void> | undefined
  #gap: DecisionGap | undefined
  #recorded = 0
  #isSettling = false

  constructor(deps: DecisionTrailDeps) {
    this.#deps = deps
  }

  get metrics(): DecisionTrailMetrics {
    return { recorded: this.#recorded, omitted: { ...this.#omitted } }
  }

  /** Queues decisions and counts those that do not fit. Never raises. */
  take({ decisions, omitted }: DecisionReport): void {
    for (const [reason, count] of Object.entries(omitted)) this.#omit(reason as OmissionReason, count)
    const capacity = Math.max(0, (this.#deps.maxWaiting ?? MAX_WAITING) - this.#waiting.length)
    this.#waiting.push(...decisions.slice(0, capacity))
    this.#omit('too_many_waiting', decisions.length - capacity)
    if (this.#waiting.length > 0) this.#running ??= this.#writeWaiting()
  }

  /**
   * Records the number of missing decisions since the last time, if any. Raises the writer's
   * errors; the next call tries again.
   */
  async recordGap(): Promise<void> {
    const gap = this.#gap
    if (gap === undefined) return
    this.#gap = undefined
    try {
      await this.#deps.writer.run(recordDecisions, { decisions: [], gap })
    } catch (error) {
      this.#addToGap(gap)
      throw error
    }
  }

  /** Resolves when nothing is waiting and missing decisions are recorded. Raises as `recordGap`. */
  async settle(): Promise<void> {
    this.#isSettling = true
    while (this.#running !== undefined) await this.#running
    this.#isSettling = false
    await this.recordGap()
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const { steadyNow, wait } = this.#deps
      const startedMs = steadyNow()
      await this.#write(this.#waiting.splice(0, MAX_STEP))
      const isOver = this.#isSettling || this.#waiting.length === 0
      if (!isOver) await wait(PAUSE * (steadyNow() - startedMs))
    }
    this.#running = undefined
  }

  async #write(decisions: readonly ReportedDecision[]): Promise<void> {
    try {
      await this.#deps.writer.run(recordDecisions, { decisions, gap: undefined })
      this.#recorded += decisions.length
    } catch (raw) {
      this.#omit('write_failed', decisions.length)
      this.#deps.failed(toError(raw))
    }
  }

  #omit(reason: OmissionReason, count: number): void {
    if (count <= 0) return
    const nowMs = this.#deps.now()
    this.#omitted[reason] = (this.#omitted[reason] ?? 0) + count
    this.#addToGap({ count, reasons: { [reason]: count }, fromMs: nowMs, toMs: nowMs })
  }

  #addToGap(more: DecisionGap): void {
    this.#gap = this.#gap === undefined ? more : joined(this.#gap, more)
  }
}

function joined(a: DecisionGap, b: DecisionGap): DecisionGap {
  const reasons: Omissions = { ...a.reasons }
  for (const [reason, count] of Object.entries(b.reasons) as [OmissionReason, number][]) {
    reasons[reason] = (reasons[reason] ?? 0) + count
  }
  return {
    count: a.count + b.count,
    reasons,
    fromMs: Math.min(a.fromMs, b.fromMs),
    toMs: Math.max(a.toMs, b.toMs),
  }
}
