import { backOffMs, retryAfterMs } from './back-off.js'
import type { OutboundClient, OutboundRequest, OutboundResponse } from './outbound-client.js'
import { OutboundError } from './outbound-error.js'

interface RetryOptions {
  /**
   * Time limit of all attempts and the waits between them, in addition to the limit of each
   * request.
   */
  readonly budgetMs: number
  readonly attempts: number
  readonly baseMs?: number
  readonly maxMs?: number
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
}

type Outcome = { readonly response: OutboundResponse } | { readonly error: OutboundError }

const DEFAULT_BASE_MS = 250
const DEFAULT_MAX_MS = 10_000
const TOO_MANY_REQUESTS = 429

/**
 * Sends a request until it succeeds or fails permanently. Retries after 429, 5xx, connection
 * failures and timeouts, with a back-off that is at least the server's `Retry-After`. Returns the
 * last response, or throws the last `OutboundError`.
 */
export async function sendWithRetries(
  client: Pick<OutboundClient, 'send'>,
  request: OutboundRequest,
  options: RetryOptions,
): Promise<OutboundResponse> {
  const deadline = options.now() + options.budgetMs
  for (let attempt = 1; ; attempt++) {
    const remainingMs = deadline - options.now()
    const outcome = await attemptOnce(client, request, remainingMs)
    const pauseMs = pauseAfter(outcome, attempt, options)
    // The first condition limits the wait even if the clock is set back.
    const isTooLate = pauseMs >= options.budgetMs || options.now() + pauseMs >= deadline
    const isLast = attempt >= options.attempts || isTooLate
    if (!isTransient(outcome) || isLast) return settle(outcome)
    await options.wait(pauseMs, request.signal)
  }
}

async function attemptOnce(
  client: Pick<OutboundClient, 'send'>,
  request: OutboundRequest,
  remainingMs: number,
): Promise<Outcome> {
  const timeoutMs = Math.max(1, Math.min(request.timeoutMs, remainingMs))
  try {
    return { response: await client.send({ ...request, timeoutMs }) }
  } catch (error) {
    if (error instanceof OutboundError) return { error }
    throw error
  }
}

function isTransient(outcome: Outcome): boolean {
  if ('error' in outcome)
    return outcome.error.reason === 'not_connected' || outcome.error.reason === 'timed_out'
  const { status } = outcome.response
  return status === TOO_MANY_REQUESTS || status >= 500
}

function pauseAfter(outcome: Outcome, attempt: number, options: RetryOptions): number {
  const { baseMs = DEFAULT_BASE_MS, maxMs = DEFAULT_MAX_MS, random, now } = options
  const requestedMs =
    'response' in outcome ? retryAfterMs(outcome.response.headers['retry-after'], now()) : undefined
  return Math.max(requestedMs ?? 0, backOffMs(attempt, { baseMs, maxMs, random }))
}

function settle(outcome: Outcome): OutboundResponse {
  if ('error' in outcome) throw outcome.error
  return outcome.response
}
