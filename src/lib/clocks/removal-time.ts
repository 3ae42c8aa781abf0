/** A wall clock may jump ahead by this much: it was corrected, or belongs to another machine. */
const TOLERATED_MS = 3_600_000
/** A wall clock that has been ahead for this long is believed. */
const BELIEVED_AFTER_MS = 24 * 3_600_000

/**
 * Returns the time for removing old records, in milliseconds since the epoch. It ignores a wall
 * clock set forward by more than an hour until a day has passed, because removed records do not
 * come back when the clock is corrected.
 */
export function makeRemovalTime(
  now: () => number = Date.now,
  steadyNow: () => number = () => performance.now(),
): () => number {
  let offsetMs = now() - steadyNow()
  let doubted: { readonly offsetMs: number; readonly sinceMs: number } | undefined
  return () => {
    const steadyMs = steadyNow()
    const foundMs = now() - steadyMs
    if (foundMs <= offsetMs + TOLERATED_MS) {
      offsetMs = foundMs
      doubted = undefined
    } else if (doubted === undefined || Math.abs(foundMs - doubted.offsetMs) > TOLERATED_MS) {
      doubted = { offsetMs: foundMs, sinceMs: steadyMs }
    } else if (steadyMs - doubted.sinceMs >= BELIEVED_AFTER_MS) {
      offsetMs = foundMs
      doubted = undefined
    }
    return steadyMs + offsetMs
  }
}
