import { setTimeout } from 'node:timers/promises'

const STEP_MS = 10
const PATIENCE_MS = 60_000

/** Of `vi.waitFor` and `expect.poll`: enough on a machine that is busy with something else. */
export const PATIENT = { timeout: PATIENCE_MS, interval: STEP_MS }

/**
 * Polls until a value is there, and returns it. Throws the message of `complaint` after a minute.
 */
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
