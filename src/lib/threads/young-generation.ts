import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const LOOK_MS = 1000
/** From this share of the time at work on, a thread allocates so much that collecting garbage less often pays. */
const BUSY_SHARE = 0.25
/** Who is busy for less is starting, or loads policies, and rests soon. */
const BUSY_LOOKS = 3
/** What V8 takes for short-lived objects when it has let it grow as far as it does by default: half of it is free at a time. */
const FULL_BYTES = 16 * 1024 * 1024
/** V8's own factor, and one that makes one step of the way from its smallest size to its largest. */
const USUAL_GROWTH = 2
const GROWTH_IN_ONE_STEP = 16
const SURVIVORS_A_ROUND = 2000
const WORDS_A_SURVIVOR = 32
/** Far more than are needed: on a heap that may not grow it must end, too. */
const MOST_ROUNDS = 16

/**
 * Lets the calling thread's space for short-lived objects grow while the thread is busy, and returns what ends that. V8 begins with 1 MB and
 * lets it grow by what survives a collection; of requests that are answered at once nothing does, so that it collects every hundredth
 * request, which is a tenth of what a small decision costs. When the thread rests, V8 takes the memory back.
 */
export function growYoungGenerationWhenBusy(grow = growYoungGeneration): () => void {
  let last = performance.eventLoopUtilization()
  let busyLooks = 0
  const looks = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    busyLooks = utilization > BUSY_SHARE ? busyLooks + 1 : 0
    if (busyLooks >= BUSY_LOOKS) grow()
  }, LOOK_MS).unref()
  return () => clearInterval(looks)
}

/** How large the space for short-lived objects is, in bytes. */
export function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
}

/** Makes it as large as V8 lets it become, which takes some milliseconds the first time, and nothing where it is so large already. */
export function growYoungGeneration(): void {
  if (youngGenerationBytes() >= FULL_BYTES) return
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_IN_ONE_STEP}`)
  try {
    // It grows when more than it holds has survived.
    const survivors: unknown[] = []
    for (let round = 0; round < MOST_ROUNDS && youngGenerationBytes() < FULL_BYTES; round++) {
      for (let i = 0; i < SURVIVORS_A_ROUND; i++) survivors.push(new Array(WORDS_A_SURVIVOR).fill(round))
    }
  } finally {
    setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`)
  }
}
