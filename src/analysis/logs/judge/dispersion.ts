import type { SideEvents } from './side-events.js'

const MINUTE_MS = 60_000
/** Of shorter windows nothing can be said about how events spread over them. */
const LEAST_MINUTES = 3
/** A chi-square sum beyond its mean by this many standard deviations is no chance. */
const SURE = 2

/** The events of one side with the window they are from. */
export interface TimedEvents {
  readonly side: SideEvents
  readonly startMs: number
  readonly endMs: number
}

/**
 * How many times the events of a minute vary more than independent events would (Pearson's chi-square by its degrees of
 * freedom, over the sides that have events): 40 lines of one failed batch count as one event, 40 single failures as 40. 1 when
 * they vary no more than by chance, and where lines have no time.
 */
export function dispersionOf(sides: readonly TimedEvents[]): number {
  let sum = 0
  let freedom = 0
  for (const { side, startMs, endMs } of sides) {
    const minutes = Math.ceil((endMs - startMs) / MINUTE_MS)
    const timed = [...side.byMinute.values()].reduce((all, events) => all + events, 0)
    if (minutes < LEAST_MINUTES || timed === 0) continue
    const mean = timed / minutes
    const empty = Math.max(0, minutes - side.byMinute.size)
    const squares = [...side.byMinute.values()].reduce((all, events) => all + (events - mean) ** 2, 0)
    sum += (squares + empty * mean ** 2) / mean
    freedom += minutes - 1
  }
  if (freedom === 0 || sum <= freedom + SURE * Math.sqrt(2 * freedom)) return 1
  return sum / freedom
}
