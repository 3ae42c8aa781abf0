import { getHeapStatistics } from 'node:v8'

import { collectEverything } from './collect-garbage.js'

/** With this much in use, in bytes, collecting everything takes a thread some 20 ms, which is worth it no more often than so many milliseconds apart. */
const LOOK_MS = 10_000
/** So much garbage may lie about until then. */
const LEAST_BYTES = 4 * 1024 * 1024

export interface OldGarbageOptions {
  readonly collect?: () => void
  readonly usedBytes?: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly now?: () => number
}

/**
 * Collects the garbage of a thread that works a little all the time. What outlives two collections of the young waits there until V8 marks the whole heap, which it
 * does when that is two and a half times as large as what is in use: after minutes, in a thread that reads now and then hardly ever.
 */
export class OldGarbage {
  readonly #collect: () => void
  readonly #usedBytes: () => number
  readonly #now: () => number
  #lookedAtMs: number
  /** What was in use when everything had been collected. Of a start nobody knows. */
  #keptBytes = 0
  #isLooking = false

  constructor(options: OldGarbageOptions = {}) {
    this.#collect = options.collect ?? collectEverything
    this.#usedBytes = options.usedBytes ?? (() => getHeapStatistics().used_heap_size)
    this.#now = options.now ?? (() => performance.now())
    this.#lookedAtMs = this.#now()
  }

  /** To be called when something has been done; who waits for it gets it first. */
  worked(): void {
    if (this.#isLooking || this.#now() - this.#lookedAtMs < LOOK_MS) return
    this.#isLooking = true
    setImmediate(() => this.#look())
  }

  #look(): void {
    this.#isLooking = false
    if (this.#usedBytes() >= this.#keptBytes + LEAST_BYTES) {
      this.#collect()
      this.#keptBytes = this.#usedBytes()
    }
    this.#lookedAtMs = this.#now()
  }
}
