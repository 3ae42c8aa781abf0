import { binomialUpperTail } from '../../statistics/binomial.js'
import type { LogExposure, LogSide } from '../model/types.js'
import type { EventGroup } from './event-group.js'
import type { SideEvents } from './side-events.js'

const MINUTE_MS = 60_000
/** What an instance does once, when it starts, it has done within this share of the window and so many minutes. */
const START_SHARE = 1 / 4
const LONGEST_START = 15
/** Of the ordinary lines that its traffic lets expect, for the canary to serve what came after. */
const LEAST_SERVED = 1 / 2
const CHANCE = 0.1
const MOST_TIMES = 1.25
/** Of the events of the start. */
const MOST_LEFT = 0.05

/**
 * The minute from which on the start of a canary is over; undefined in windows that are too short to tell, and where the canary does not go on
 * writing ordinary lines as its traffic lets expect: errors that end because nobody asks it any more are not over.
 */
export function startEndOf(
  groups: readonly EventGroup[],
  exposure: LogExposure,
  canary: LogSide,
): number | undefined {
  const minutes = Math.floor((canary.endMs - canary.startMs) / MINUTE_MS)
  const end = Math.min(LONGEST_START, Math.floor(minutes * START_SHARE))
  if (end < 1) return undefined
  const common = groups.filter(
    ({ severity, ...sides }) =>
      severity === 'ordinary' && Math.min(sides.baseline.events, sides.canary.events) > 0,
  )
  const count = (side: 'baseline' | 'canary', from: number): number =>
    common.reduce((sum, group) => sum + eventsFrom(group[side], from), 0)
  const [before, now] = [count('baseline', end), count('canary', end)]
  const early = (count('canary', 0) - now) / Math.max(1, count('baseline', 0) - before)
  const odds = Math.max(early, exposure.canaryShare / (1 - exposure.canaryShare))
  return now >= before * odds * LEAST_SERVED ? end : undefined
}

/** Whether the events of the canary that the baseline does not explain came before this minute, and none after it. */
export function isOverFrom(
  minute: number,
  { baseline, canary }: EventGroup,
  { canaryShare }: Pick<LogExposure, 'canaryShare'>,
): boolean {
  const [before, now] = [eventsFrom(baseline, minute), eventsFrom(canary, minute)]
  const early = [...canary.byMinute.values()].reduce((sum, events) => sum + events, 0) - now
  // Those without a time may have come at any.
  if (early + now < canary.events) return false
  const most = before * (canaryShare / (1 - canaryShare)) * MOST_TIMES + Math.max(1, early * MOST_LEFT)
  return now <= most && binomialUpperTail(now, now + before, canaryShare) > (before === 0 ? 0 : CHANCE)
}

function eventsFrom({ byMinute }: SideEvents, from: number): number {
  let sum = 0
  for (const [minute, events] of byMinute) if (minute >= from) sum += events
  return sum
}
