/**
 * A clock of how much time has passed, in milliseconds from anywhere: it never goes back, and goes on while either the clock on the wall
 * or the one that nobody sets does. What ends after a while ends no later because somebody set the clock back or the machine slept.
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
