import type { ReceivedResponse } from './received-response.js'

/** A response that other decisions get, until it is stale. */
export interface CachedResponse {
  readonly response: ReceivedResponse
  /** In milliseconds since the epoch. */
  readonly freshUntilMs: number
}

/** What an entry takes beside its texts. */
const ENTRY_BYTES = 500

/** Responses for other decisions. What was used last stays when there is no room for all. */
export class ResponseCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, { readonly cached: CachedResponse; readonly bytes: number }>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): CachedResponse | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.cached
  }

  set(key: string, cached: CachedResponse): void {
    this.delete(key)
    const bytes = sizeOf(key, cached)
    if (bytes > this.#maxBytes) return
    this.#entries.set(key, { cached, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}

function sizeOf(key: string, { response: { headers, body } }: CachedResponse): number {
  const texts = Object.entries(headers).flatMap(([name, values]) => [name, ...values])
  const characters = texts.reduce((sum, text) => sum + text.length, key.length)
  return ENTRY_BYTES + characters * 2 + body.length
}
