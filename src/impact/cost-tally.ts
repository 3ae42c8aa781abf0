import type { Cost } from './impact-result.js'

/** Each bucket is this much wider than the one before, so a quantile is off by 2.5 % at most. */
const GROWTH = 1.05
const FIRST_BUCKET_MS = 0.001
const BUCKETS = 400

/** Counts durations in buckets, so that their number does not matter. */
export class CostTally {
  readonly #buckets = new Float64Array(BUCKETS)
  count = 0
  #totalMs = 0

  add(durationMs: number): void {
    const bucket = Math.ceil(Math.log(durationMs / FIRST_BUCKET_MS) / Math.log(GROWTH))
    const at = Math.min(Math.max(bucket, 0), BUCKETS - 1)
    this.#buckets[at] = (this.#buckets[at] ?? 0) + 1
    this.count += 1
    this.#totalMs += durationMs
  }

  get cost(): Cost {
    return {
      meanMs: rounded(this.count === 0 ? 0 : this.#totalMs / this.count),
      p50Ms: rounded(this.#quantile(0.5)),
      p99Ms: rounded(this.#quantile(0.99)),
      totalMs: rounded(this.#totalMs),
    }
  }

  /** Upper bound of the bucket with the quantile. */
  #quantile(share: number): number {
    const wanted = this.count * share
    let seen = 0
    for (const [at, count] of this.#buckets.entries()) {
      seen += count
      if (count > 0 && seen >= wanted) return FIRST_BUCKET_MS * GROWTH ** at
    }
    return 0
  }
}

/** To microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
