import { setTimeout } from 'node:timers/promises'

import { parseHttpDate } from '../text/http-date.js'

interface BackOffOptions {
  readonly baseMs: number
  readonly maxMs: number
  /** From 0 up to, not including, 1. */
  readonly random: () => number
}

/** Maximum value of `Retry-After`: one day. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
/** Doubling beyond this exceeds every maximum. */
const MAX_DOUBLINGS = 40

/**
 * Returns the wait after an attempt, counted from 1, in milliseconds: exponential back-off with
 * full jitter, a random part of min(maxMs, baseMs * 2^(attempt - 1)).
 */
export function backOffMs(attempt: number, { baseMs, maxMs, random }: BackOffOptions): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), MAX_DOUBLINGS)
  return Math.floor(random() * Math.min(maxMs, baseMs * 2 ** doublings))
}

/**
 * Parses a `Retry-After` header (RFC 9110, 10.2.3: seconds or an HTTP date) to milliseconds from
 * now, from 0 to one day. Undefined if absent or malformed.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** Resolves after a time, or when the signal is aborted. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
