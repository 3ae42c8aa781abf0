import { backOffMs } from '../lib/outbound/back-off.js'
import type { OutboxProgress, StoredMessage } from '../store/ports/outbox-store.js'

/** Retry policy of a message, in milliseconds. */
export interface DeliveryPolicy {
  /** Highest wait before the second attempt. It doubles for each further attempt. */
  readonly firstRetryMs: number
  readonly maxRetryMs: number
  /** Time after which a message is given up. */
  readonly giveUpAfterMs: number
}

/** Result of an attempt. */
export type Attempt =
  | {
      readonly type: 'answered'
      readonly status: number
      readonly retryAfterMs: number | undefined
      /** Whether a refusal is permanent. */
      readonly isFinal?: boolean
    }
  | { readonly type: 'failed'; readonly error: string; readonly isFinal: boolean }

/** The receiver never wants such messages again (Standard Webhooks, "Responding to webhooks"). */
const GONE = 410

/**
 * Returns the state of a message after an attempt that ended at `nowMs`. `random` returns 0 to 1.
 */
export function afterAttempt(
  message: StoredMessage,
  attempt: Attempt,
  policy: DeliveryPolicy,
  nowMs: number,
  random: () => number,
): OutboxProgress {
  const { id, nextAttemptMs } = message
  const attempts = message.attempts + 1
  const outcome = { id, attempts, ...describe(attempt) }
  if (isDelivered(attempt)) return { state: 'delivered', nextAttemptMs, settledMs: nowMs, ...outcome }
  const waitMs = waitAfter(attempt, attempts, policy, random)
  const isTooLate = nowMs + waitMs > message.triedSinceMs + policy.giveUpAfterMs
  if (isTooLate || isFinal(attempt)) {
    return { state: 'given_up', nextAttemptMs, settledMs: nowMs, ...outcome }
  }
  return { state: 'pending', nextAttemptMs: nowMs + waitMs, ...outcome }
}

function isDelivered(attempt: Attempt): boolean {
  return attempt.type === 'answered' && attempt.status >= 200 && attempt.status < 300
}

function isFinal(attempt: Attempt): boolean {
  return attempt.isFinal === true || (attempt.type === 'answered' && attempt.status === GONE)
}

/** Returns the receiver's Retry-After, but at least the back-off. */
function waitAfter(
  attempt: Attempt,
  attempts: number,
  { firstRetryMs, maxRetryMs }: DeliveryPolicy,
  random: () => number,
): number {
  const backOff = backOffMs(attempts, { baseMs: firstRetryMs, maxMs: maxRetryMs, random })
  const requested = attempt.type === 'answered' ? (attempt.retryAfterMs ?? 0) : 0
  return Math.max(backOff, requested)
}

function describe(attempt: Attempt): Pick<OutboxProgress, 'lastStatus' | 'lastError'> {
  if (attempt.type === 'failed') return { lastError: attempt.error }
  if (isDelivered(attempt)) return { lastStatus: attempt.status }
  return { lastStatus: attempt.status, lastError: `the receiver answered ${attempt.status}` }
}
