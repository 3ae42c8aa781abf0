import type { SideEvents } from './side-events.js'

const MINUTE_MS = 60_000
/** Of windows with fewer stretches nothing can be said about how events spread over them. */
const LEAST_STRETCHES = 3
/** A chi-square sum beyond its mean by so many standard deviations is no chance. */
const SURE = 2
/** Minutes of outages. A chance among the few of these is likelier, so that more is needed. */
const STRETCHES: readonly number[] = [5, 15]
const SURE_OF_STRETCH = 3
const LEAST_STEADY = 30

/** The events of one side with the window they are from. */
export interface TimedEvents {
  readonly side: SideEvents
  readonly startMs: number
  readonly endMs: number
}

/**
 * How many times the events of a minute vary more than independent events would (Pearson's chi-square by its degrees of
 * freedom, over the sides that have events): 40 lines of one failed batch count as one event, 40 single failures as 40. Those of
 * the baseline are counted in longer stretches too, since outages last; of the canary that would hide what begins late. 1 when they vary
 * no more than by chance, and where lines have no time.
 */
export function dispersionOf(baseline: TimedEvents, canary: TimedEvents): number {
  const longer = STRETCHES.map((length) => varying([baseline], length, SURE_OF_STRETCH))
  return Math.max(varying([baseline, canary], 1, SURE), ...longer)
}

/** Whether the events of a side come evenly as far as one can tell, and are enough to tell. */
export function isSteady(one: TimedEvents): boolean {
  return (
    one.side.events >= LEAST_STEADY && [1, ...STRETCHES].every((length) => varying([one], length, SURE) === 1)
  )
}

function varying(sides: readonly TimedEvents[], length: number, sure: number): number {
  let sum = 0
  let freedom = 0
  for (const { side, startMs, endMs } of sides) {
    const stretches = Math.ceil((endMs - startMs) / (length * MINUTE_MS))
    const counts = inStretches(side.byMinute, length)
    const timed = counts.reduce((all, events) => all + events, 0)
    if (stretches < LEAST_STRETCHES || timed === 0) continue
    const mean = timed / stretches
    const empty = Math.max(0, stretches - counts.length)
    const squares = counts.reduce((all, events) => all + (events - mean) ** 2, 0)
    sum += (squares + empty * mean ** 2) / mean
    freedom += stretches - 1
  }
  return freedom === 0 || sum <= freedom + sure * Math.sqrt(2 * freedom) ? 1 : sum / freedom
}

function inStretches(byMinute: ReadonlyMap<number, number>, length: number): number[] {
  if (length === 1) return [...byMinute.values()]
  const counts = new Map<number, number>()
  for (const [minute, events] of byMinute) {
    const stretch = Math.floor(minute / length)
    counts.set(stretch, (counts.get(stretch) ?? 0) + events)
  }
  return [...counts.values()]
}
