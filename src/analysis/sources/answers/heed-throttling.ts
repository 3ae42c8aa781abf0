import { z } from 'zod'

import type { OutboundResponse } from '../../../lib/outbound/outbound-client.js'

const BAD_REQUEST = 400
const TOO_MANY_REQUESTS = 429
/** A larger number is a time, not a number of seconds from now. */
const MAX_RESET_SECONDS = 3600

/** Services of Amazon with a JSON protocol name the error in the body. */
const NamedError = z.object({ __type: z.string() })
const THROTTLED = /(?:^|#)(?:Throttling\w*|TooManyRequests\w*|RequestLimitExceeded|LimitExceededException)$/

/**
 * A response in the words of HTTP where it says in its own that too much was asked: Amazon's services throttle with 400, and Datadog says by
 * `X-RateLimit-Reset` in how many seconds there is room again.
 */
export function heedThrottling(response: OutboundResponse): OutboundResponse {
  if (response.status === TOO_MANY_REQUESTS) return withRetryAfter(response)
  return response.status === BAD_REQUEST && isThrottled(response.body)
    ? { ...response, status: TOO_MANY_REQUESTS }
    : response
}

function withRetryAfter(response: OutboundResponse): OutboundResponse {
  const { headers } = response
  const reset = headers['x-ratelimit-reset'] ?? ''
  if (headers['retry-after'] !== undefined || !/^\d{1,4}$/.test(reset)) return response
  const seconds = Math.min(Number(reset), MAX_RESET_SECONDS)
  return { ...response, headers: { ...headers, 'retry-after': String(seconds) } }
}

function isThrottled(body: Buffer): boolean {
  try {
    const error = NamedError.safeParse(JSON.parse(body.toString()))
    return error.success && THROTTLED.test(error.data.__type)
  } catch {
    return false
  }
}
