import { setTimeout } from 'node:timers/promises'

const STEP_MS = 10
const PATIENCE_MS = 30_000

/** Looks again and again until there is something to see, and gives it; throws what `complaint` says after half a minute. */
export async function waitUntil<T>(
  look: () => T | undefined | Promise<T | undefined>,
  complaint: () => string,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (performance.now() > deadline) throw new Error(complaint())
    await setTimeout(STEP_MS)
  }
}
