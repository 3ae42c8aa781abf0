import { binomialLowerTail, binomialUpperTail, clopperPearson } from '../../statistics/binomial.js'
import type { LineSeverity, LogExposure, LogSide, TemplateChange } from '../model/types.js'
import type { EventGroup, SideEvents } from './side-events.js'
import { shareOfTime } from './exposure.js'
import { episodeOf, minutesOf } from './episodes.js'
import type { Episode } from './episodes.js'

/** The comparison of the counts of one group. */
export interface Comparison {
  readonly group: EventGroup
  readonly change: TemplateChange
  readonly ratio: number | null
  readonly ratioLower: number
  /** P-value of as many events on the canary, or more. */
  readonly pMore: number
  /** P-value of as few events on the canary, or fewer. */
  readonly pFewer: number
  readonly dispersion: number
  /**
   * Whether there are more events by exposure, but in bursts, of which a side with less traffic may
   * have as many.
   */
  readonly isMoreInBursts: boolean
  /**
   * The stretch that contains all events of the canary that the baseline does not explain.
   * Undefined if there is no such stretch, or no such event.
   */
  readonly episode: Episode | undefined
}

/** The sides of a comparison. */
export interface ComparedSides {
  readonly exposure: Pick<LogExposure, 'canaryShare'>
  readonly baseline: LogSide
  readonly canary: LogSide
  /** See `startEndOf`. */
  readonly startEnd: number | undefined
}

const CONFIDENCE = 0.95
const SURE = 0.05
/**
 * P-value below which bursts do not explain the events, even if bursts were as rare as the traffic
 * is small.
 */
const PLAIN = 0.01

/**
 * Compares the events of a group by exposure: given all events of a group, those of the canary are
 * binomial with the canary's share of the exposure if both sides are alike. Events in bursts count
 * as fewer. If the baseline's events are not steady, a side with less traffic may have as many
 * bursts, so its share is at least its share of the time.
 */
export function compareGroup(
  group: EventGroup,
  { exposure, baseline, canary, startEnd }: ComparedSides,
): Comparison {
  const { canaryShare } = exposure
  const timed = { side: group.baseline, startMs: baseline.startMs, endMs: baseline.endMs }
  const dispersion = dispersionOf(timed, {
    ...{ side: group.canary, startMs: canary.startMs, endMs: canary.endMs },
  })
  const before = group.baseline.events / dispersion
  const now = group.canary.events / dispersion
  const inBursts = dispersion > 1 && !isSteady(timed)
  const least = inBursts ? Math.max(canaryShare, shareOfTime(baseline, canary)) : canaryShare
  const isNewHarm = now > 0 && before === 0 && (group.severity === 'critical' || group.severity === 'error')
  const pMore = binomialUpperTail(now, now + before, least)
  const pFewer = binomialLowerTail(now, now + before, canaryShare)
  const ratioLower = leastRatioOf(now, before, least)
  return {
    group,
    change: changeOf(group, pMore, pFewer),
    ratio: before === 0 ? null : (now / before) * ((1 - canaryShare) / canaryShare),
    ...{ ratioLower, pMore, pFewer, dispersion },
    isMoreInBursts:
      least > canaryShare &&
      binomialUpperTail(now, now + before, canaryShare) < PLAIN &&
      leastRatioOf(now, before, canaryShare) > leastRatio(group.severity),
    episode:
      startEnd !== undefined && (pMore < SURE || isNewHarm)
        ? episodeOf(startEnd, group, exposure, minutesOf(canary))
        : undefined,
  }
}

/** How many times as often the events come on the canary at least, by its share. */
function leastRatioOf(now: number, before: number, share: number): number {
  const { lower } = clopperPearson(now, now + before, CONFIDENCE)
  return (lower / (1 - lower)) * ((1 - share) / share)
}

function changeOf({ baseline, canary }: EventGroup, pMore: number, pFewer: number): TemplateChange {
  if (baseline.events === 0) return 'new'
  if (canary.events === 0) return 'missing'
  if (pMore < SURE) return 'more'
  return pFewer < SURE ? 'fewer' : 'same'
}

/** From which ratio on more events matter: what is only a warning must grow more. */
export function leastRatio(severity: LineSeverity): number {
  return severity === 'error' || severity === 'critical' ? 1.5 : 2
}

const MINUTE_MS = 60_000
/** Minimum number of stretches in a window for a statement about how events spread over them. */
const MIN_STRETCHES = 3
/** Standard deviations beyond the mean from which a chi-square sum is not chance. */
const MIN_DEVIATIONS = 2
/** Minutes of outages. A chance among the few of these is likelier, so that more is needed. */
const STRETCHES: readonly number[] = [5, 15]
const MIN_DEVIATIONS_OF_STRETCH = 3
const MIN_STEADY = 30

/** The events of one side with the window they are from. */
interface TimedEvents {
  readonly side: SideEvents
  readonly startMs: number
  readonly endMs: number
}

/**
 * The variance of events per minute relative to independent events (Pearson's chi-square divided by
 * its degrees of freedom, over the sides that have events): 40 lines of one failed batch count as
 * one event, 40 single failures as 40. Events of the baseline are also counted in longer stretches,
 * since outages last; for the canary that would hide a late change. 1 if they vary no more than by
 * chance, and if lines have no time.
 */
function dispersionOf(baseline: TimedEvents, canary: TimedEvents): number {
  const longer = STRETCHES.map((length) => varying([baseline], length, MIN_DEVIATIONS_OF_STRETCH))
  return Math.max(varying([baseline, canary], 1, MIN_DEVIATIONS), ...longer)
}

/** Whether the events of a side are evenly spread, as far as their number shows. */
function isSteady(one: TimedEvents): boolean {
  return (
    one.side.events >= MIN_STEADY &&
    [1, ...STRETCHES].every((length) => varying([one], length, MIN_DEVIATIONS) === 1)
  )
}

function varying(sides: readonly TimedEvents[], length: number, sure: number): number {
  let sum = 0
  let freedom = 0
  for (const { side, startMs, endMs } of sides) {
    const stretches = Math.ceil((endMs - startMs) / (length * MINUTE_MS))
    const counts = inStretches(side.byMinute, length)
    const timed = counts.reduce((all, events) => all + events, 0)
    if (stretches < MIN_STRETCHES || timed === 0) continue
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
