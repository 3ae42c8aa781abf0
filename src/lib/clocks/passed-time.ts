/**
 * Returns a clock of elapsed time in milliseconds from an arbitrary start. It advances with the
 * faster of wall clock and monotonic clock, so that deadlines are not extended when the wall clock
 * is set back or the machine sleeps.
 */
export function makePassedTime(
  wallNow: () => number = Date.now,
  steadyNow: () => number = () => performance.now(),
): () => number {
  let [wallMs, steadyMs, passedMs] = [wallNow(), steadyNow(), 0]
  return () => {
    const [nextWallMs, nextSteadyMs] = [wallNow(), steadyNow()]
    passedMs += Math.max(0, nextWallMs - wallMs, nextSteadyMs - steadyMs)
    wallMs = nextWallMs
    steadyMs = nextSteadyMs
    return passedMs
  }
}
