import { BoundedCache } from '../../lib/bounded-cache.js'
import type { ReceivedResponse } from './received-response.js'

/** A response for other decisions, until it is stale. */
export interface CachedResponse {
  readonly response: ReceivedResponse
  /** In milliseconds since the epoch. */
  readonly freshUntilMs: number
  /** Expiry by elapsed time, in case the clock is set back. */
  readonly freshUntilPassedMs: number
}

/** A cache of responses for all decisions. */
export type ResponseCache = BoundedCache<CachedResponse>

/** Size of an entry apart from its strings. */
const ENTRY_BYTES = 500

/** Stores responses up to this size in total. */
export function makeResponseCache(maxBytes: number): ResponseCache {
  return new BoundedCache(maxBytes, sizeOf)
}

function sizeOf(key: string, { response: { headers, body } }: CachedResponse): number {
  const texts = Object.entries(headers).flatMap(([name, values]) => [name, ...values])
  const characters = texts.reduce((sum, text) => sum + text.length, key.length)
  return ENTRY_BYTES + characters * 2 + body.length
}
