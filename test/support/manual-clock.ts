interface Timer {
  readonly callback: () => void
  readonly dueMs: number
}

/** A manual clock with timers that follow it. */
export interface ManualClock {
  readonly now: () => number
  readonly setTimer: (callback: () => void, delayMs: number) => () => void
  /** Advances to a time in milliseconds and fires due timers in order. */
  readonly moveTo: (ms: number) => void
  /** Time of the next timer. Undefined if none is set. */
  readonly nextMs: () => number | undefined
}

export function makeManualClock(startMs: number): ManualClock {
  let nowMs = startMs
  const timers = new Set<Timer>()
  const next = (): Timer | undefined => [...timers].sort((a, b) => a.dueMs - b.dueMs)[0]
  return {
    now: () => nowMs,
    setTimer: (callback, delayMs) => {
      const timer = { callback, dueMs: nowMs + delayMs }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    moveTo: (ms) => {
      nowMs = ms
      for (let timer = next(); timer !== undefined && timer.dueMs <= nowMs; timer = next()) {
        timers.delete(timer)
        timer.callback()
      }
    },
    nextMs: () => next()?.dueMs,
  }
}
