/** So far a clock may be ahead at once without being doubted: it is corrected, or is that of another machine. */
const TOLERATED_MS = 3_600_000
/** A clock that has been ahead for so long is right. */
const BELIEVED_AFTER_MS = 24 * 3_600_000

/**
 * The time by which old records are removed, in milliseconds since the epoch: as the clock says, but for one that was set forward by more than an
 * hour, which it follows only after a day. What is removed does not come back when the clock is set right.
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
