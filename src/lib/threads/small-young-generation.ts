import { setFlagsFromString } from 'node:v8'

import { keepFlag } from './v8-flags.js'

/** How much larger the space for new objects becomes at a time: not at all. */
export const NO_GROWTH = 1

/**
 * Keeps the space for new objects of a process that serves as small as V8 begins with, where it would let it grow from 1 to 16 MB per half under load
 * and not give that back for long: a decision leaves almost nothing behind, so a small space is collected as cheaply, and by one thread more
 * cheaply than by several. To be called before our own code is loaded; among the arguments of Node.js V8 takes 2 for the factor, and so it does whenever
 * it sets up the heap of a thread (src/heap/heap.cc, `ConfigureHeap`), behind which `startThread` sets it again.
 */
export function keepYoungGenerationSmall(): void {
  keepFlag('semi-space-growth-factor', NO_GROWTH)
  // V8 takes the code that is ready whatever this is.
  setFlagsFromString('--no-parallel-scavenge')
}

/** V8 lets it become no larger than 16 MB on machines of 64 bits. */
const AT_ONCE = 16

/**
 * Lets the space for new objects of a command grow to its full size when it grows for the first time: a command of a second copies what it keeps a dozen times
 * else, and collects all of its heap once. To be called before our own code is loaded.
 */
export function letYoungGenerationGrowAtOnce(): void {
  keepFlag('semi-space-growth-factor', AT_ONCE)
}
