import { getHeapSpaceStatistics } from 'node:v8'

import { collectEverything } from './collect-garbage.js'
import { NO_GROWTH } from './small-young-generation.js'
import { keepFlag } from './v8-flags.js'

const LOOK_MS = 1000
/**
 * From so many requests a second on, collecting garbage less often pays. Of fewer and larger ones more is in use at a time, and copying that takes the
 * longer the more there is room for: requests for gates, at 200 a second, waited twice as long.
 */
const MANY_REQUESTS = 2000
/** Who is busy for less rests soon. */
const BUSY_LOOKS = 3
/** V8 takes the last five seconds for what is going on, and makes the space for short-lived objects small again where that is next to nothing. */
const RESTING_LOOKS = 6
/** What V8 takes for short-lived objects when it has let it grow as far as it does by default: half of it is free at a time. */
const FULL_BYTES = 16 * 1024 * 1024
/** One step of the way from the smallest size to the largest. */
const GROWTH_IN_ONE_STEP = 16
const SURVIVORS_A_ROUND = 2000
const WORDS_A_SURVIVOR = 32
/** Far more than are needed: on a heap that may not grow it must end, too. */
const MOST_ROUNDS = 16

/**
 * Lets the calling thread's space for short-lived objects grow while it answers thousands of requests a second. V8 begins with 1 MB and
 * lets it grow by what survives a collection; of requests that are answered at once nothing does, so that it collects every hundredth
 * request, which is a tenth of what a small decision costs. When the thread rests, after a start or after so
 * much work, everything is collected once, unless that is a lot: V8 itself would, eight or sixteen seconds later.
 */
export class YoungGeneration {
  readonly #grow: () => void
  readonly #collect: () => void
  readonly #looks: NodeJS.Timeout
  #answered = 0
  #busyLooks = 0
  #restingLooks = 0
  /** The start leaves most. */
  #isToCollect = true

  constructor(grow = growYoungGeneration, collect = collectEverything) {
    this.#grow = grow
    this.#collect = collect
    this.#looks = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  /** To be called for every request that was answered. */
  answered(): void {
    this.#answered += 1
  }

  stop(): void {
    clearInterval(this.#looks)
  }

  #look(): void {
    this.#busyLooks = this.#answered >= MANY_REQUESTS ? this.#busyLooks + 1 : 0
    this.#restingLooks = this.#answered === 0 ? this.#restingLooks + 1 : 0
    this.#answered = 0
    if (this.#busyLooks >= BUSY_LOOKS) this.#work()
    if (this.#restingLooks === RESTING_LOOKS && this.#isToCollect) this.#rest()
  }

  #work(): void {
    this.#isToCollect = true
    this.#grow()
  }

  #rest(): void {
    this.#isToCollect = false
    this.#collect()
  }
}

/** How large the space for short-lived objects is, in bytes. */
export function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
}

/** Makes it as large as V8 lets it become, which takes some milliseconds the first time, and nothing where it is so large already. */
export function growYoungGeneration(): void {
  if (youngGenerationBytes() >= FULL_BYTES) return
  keepFlag('semi-space-growth-factor', GROWTH_IN_ONE_STEP)
  try {
    // It grows when more than it holds has survived.
    const survivors: unknown[] = []
    for (let round = 0; round < MOST_ROUNDS && youngGenerationBytes() < FULL_BYTES; round++) {
      for (let i = 0; i < SURVIVORS_A_ROUND; i++) survivors.push(new Array(WORDS_A_SURVIVOR).fill(round))
    }
  } finally {
    keepFlag('semi-space-growth-factor', NO_GROWTH)
  }
}
