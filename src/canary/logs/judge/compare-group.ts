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
   * Whether the canary has significantly more events for its traffic, but they come in bursts that
   * may not depend on traffic.
   */
  readonly isMoreInBursts: boolean
  /**
   * The run of minutes that contains all events of the canary that the baseline does not explain.
   * Undefined if no run of minutes does, or if the baseline explains all events.
   */
  readonly episode: Episode | undefined
}

/** The sides of a comparison. */
export interface ComparedSides {
  readonly exposure: Pick<LogExposure, 'canaryShare'>
  readonly baseline: LogSide
  readonly canary: LogSide
  /**
   * The minute of the window at which the start of the canary is over. Undefined if the window is
   * too short or the canary stopped serving.
   */
  readonly startEnd: number | undefined
}

const CONFIDENCE = 0.95
/** P-value below which a group has more or fewer events. */
const SIGNIFICANCE = 0.05
/**
 * P-value below which a group whose events come in bursts has more events, if the number of bursts
 * is assumed to grow with the traffic.
 */
const BURST_SIGNIFICANCE = 0.01

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
  const share = inBursts ? Math.max(canaryShare, shareOfTime(baseline, canary)) : canaryShare
  const isNewHarm = now > 0 && before === 0 && (group.severity === 'critical' || group.severity === 'error')
  const pMore = binomialUpperTail(now, now + before, share)
  const pFewer = binomialLowerTail(now, now + before, canaryShare)
  const ratioLower = ratioLowerBound(now, before, share)
  return {
    group,
    change: changeOf(group, pMore, pFewer),
    ratio: before === 0 ? null : (now / before) * ((1 - canaryShare) / canaryShare),
    ...{ ratioLower, pMore, pFewer, dispersion },
    isMoreInBursts:
      share > canaryShare &&
      binomialUpperTail(now, now + before, canaryShare) < BURST_SIGNIFICANCE &&
      ratioLowerBound(now, before, canaryShare) > minRatio(group.severity),
    episode:
      startEnd !== undefined && (pMore < SIGNIFICANCE || isNewHarm)
        ? episodeOf(startEnd, group, exposure, minutesOf(canary))
        : undefined,
  }
}

/** Lower confidence bound of the ratio of event rates, canary to baseline. */
function ratioLowerBound(now: number, before: number, share: number): number {
  const { lower } = clopperPearson(now, now + before, CONFIDENCE)
  return (lower / (1 - lower)) * ((1 - share) / share)
}

function changeOf({ baseline, canary }: EventGroup, pMore: number, pFewer: number): TemplateChange {
  if (baseline.events === 0) return 'new'
  if (canary.events === 0) return 'missing'
  if (pMore < SIGNIFICANCE) return 'more'
  return pFewer < SIGNIFICANCE ? 'fewer' : 'same'
}

/**
 * The ratio above which more events count against the canary. Warnings must grow more than errors.
 */
export function minRatio(severity: LineSeverity): number {
  return severity === 'error' || severity === 'critical' ? 1.5 : 2
}

const MINUTE_MS = 60_000
/** Minimum number of bins in a window to judge how events are spread over them. */
const MIN_BINS = 3
/** Standard deviations above the mean beyond which a chi-square sum is not chance. */
const MIN_DEVIATIONS = 2
/** Lengths of the bins that reveal outages, in minutes. */
const LONG_BINS: readonly number[] = [5, 15]
/** Higher than for minutes, because a window has few long bins and chance varies them more. */
const MIN_DEVIATIONS_OF_LONG_BINS = 3
/** Minimum number of events to call them evenly spread. */
const MIN_STEADY_EVENTS = 30

/** The events of one side with the window they are from. */
interface TimedEvents {
  readonly side: SideEvents
  readonly startMs: number
  readonly endMs: number
}

/**
 * The variance of events per minute relative to independent events (Pearson's chi-square divided by
 * its degrees of freedom, over the sides that have events): 40 lines of one failed batch count as
 * one event, 40 single failures as 40. Events of the baseline are also counted in longer bins,
 * since outages last; for the canary that would hide a late change. 1 if they vary no more than by
 * chance, or if lines have no time.
 */
function dispersionOf(baseline: TimedEvents, canary: TimedEvents): number {
  const longer = LONG_BINS.map((length) => dispersionInBins([baseline], length, MIN_DEVIATIONS_OF_LONG_BINS))
  return Math.max(dispersionInBins([baseline, canary], 1, MIN_DEVIATIONS), ...longer)
}

/** Whether a side has enough events to judge, and they are evenly spread. */
function isSteady(one: TimedEvents): boolean {
  return (
    one.side.events >= MIN_STEADY_EVENTS &&
    [1, ...LONG_BINS].every((length) => dispersionInBins([one], length, MIN_DEVIATIONS) === 1)
  )
}

/** The dispersion over bins of `length` minutes; 1 if it may be chance. */
function dispersionInBins(sides: readonly TimedEvents[], length: number, minDeviations: number): number {
  let sum = 0
  let freedom = 0
  for (const { side, startMs, endMs } of sides) {
    const bins = Math.ceil((endMs - startMs) / (length * MINUTE_MS))
    const counts = countsInBins(side.byMinute, length)
    const timed = counts.reduce((all, events) => all + events, 0)
    if (bins < MIN_BINS || timed === 0) continue
    const mean = timed / bins
    const empty = Math.max(0, bins - counts.length)
    const squares = counts.reduce((all, events) => all + (events - mean) ** 2, 0)
    sum += (squares + empty * mean ** 2) / mean
    freedom += bins - 1
  }
  return freedom === 0 || sum <= freedom + minDeviations * Math.sqrt(2 * freedom) ? 1 : sum / freedom
}

function countsInBins(byMinute: ReadonlyMap<number, number>, length: number): number[] {
  if (length === 1) return [...byMinute.values()]
  const counts = new Map<number, number>()
  for (const [minute, events] of byMinute) {
    const bin = Math.floor(minute / length)
    counts.set(bin, (counts.get(bin) ?? 0) + events)
  }
  return [...counts.values()]
}
