import { BoundedCache } from '../../lib/bounded-cache.js'
import type { ReceivedResponse } from './received-response.js'

/** A response that other decisions get, until it is stale. */
export interface CachedResponse {
  readonly response: ReceivedResponse
  /** In milliseconds since the epoch. */
  readonly freshUntilMs: number
  /** Expiry by elapsed time, in case the clock is set back. */
  readonly freshUntilPassedMs: number
}

/** Responses for other decisions. */
export type ResponseCache = BoundedCache<CachedResponse>

/** Size of an entry apart from its strings. */
const ENTRY_BYTES = 500

/** Keeps responses as long as they take no more than this. */
export function makeResponseCache(maxBytes: number): ResponseCache {
  return new BoundedCache(maxBytes, sizeOf)
}

function sizeOf(key: string, { response: { headers, body } }: CachedResponse): number {
  const texts = Object.entries(headers).flatMap(([name, values]) => [name, ...values])
  const characters = texts.reduce((sum, text) => sum + text.length, key.length)
  return ENTRY_BYTES + characters * 2 + body.length
}
