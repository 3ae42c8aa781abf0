interface Timer {
  readonly callback: () => void
  readonly dueMs: number
}

/** A clock that stands still until a test moves it, with the timers that follow it. */
export interface ManualClock {
  readonly now: () => number
  readonly setTimer: (callback: () => void, delayMs: number) => () => void
  /** Moves on to a time in milliseconds and fires what is due by then, in order. */
  readonly moveTo: (ms: number) => void
  /** When the next timer fires; undefined where none is set. */
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
