import { AppError } from '../../errors/app-error.js'
import { requestRefused } from './request-error.js'
import type { RequestSettings } from './request-settings.js'

const MS_PER_SECOND = 1000

/** The limits on all requests of one decision. */
export class RequestAllowance {
  readonly signal: AbortSignal
  readonly #settings: RequestSettings
  readonly #endsAtMs: number
  #made = 0

  constructor(settings: RequestSettings, signal: AbortSignal) {
    this.#settings = settings
    this.signal = signal
    this.#endsAtMs = performance.now() + settings.maxTotalSeconds * MS_PER_SECOND
  }

  /**
   * Counts a request and returns its timeout in milliseconds. Raises `evaluation_failed` at the
   * limit.
   */
  take(wantedMs?: number): number {
    const { maxPerDecision, timeoutSeconds } = this.#settings
    this.#made += 1
    if (this.#made > maxPerDecision) {
      throw requestRefused(
        `the evaluation was stopped: it makes more than ${maxPerDecision} requests. Send fewer requests, or raise policies.requests.maxPerDecision.`,
      )
    }
    this.requireTime()
    return Math.max(
      1,
      Math.ceil(Math.min(wantedMs ?? Infinity, timeoutSeconds * MS_PER_SECOND, this.leftMs())),
    )
  }

  /** Raises `evaluation_failed` after the total time, and `unavailable` after an abort. */
  requireTime(): void {
    if (this.signal.aborted) {
      throw new AppError(
        'unavailable',
        'the policy was not evaluated: it was given up while it waited for an answer',
      )
    }
    if (this.leftMs() > 0) return
    const { maxTotalSeconds } = this.#settings
    throw requestRefused(
      `the evaluation was stopped: its requests take longer than ${maxTotalSeconds} s. Send fewer requests, or raise policies.requests.maxTotalSeconds.`,
    )
  }

  /** Returns the remaining time in milliseconds; 0 when it is over. */
  leftMs(): number {
    return Math.max(0, this.#endsAtMs - performance.now())
  }
}
