import { benjaminiHochberg } from '../../statistics/benjamini-hochberg.js'
import { spendAlpha } from '../../statistics/alpha-spending.js'
import type { LineSeverity, LogExposure, LogJudgeOptions } from '../model/types.js'
import { endsProgram } from '../topics/default-topics.js'
import { minRatio } from './compare-group.js'
import type { Comparison } from './compare-group.js'
import type { EventGroup } from './side-events.js'

/** A comparison with its cost. */
export interface WeighedComparison extends Comparison {
  readonly isNewEver: boolean
  readonly asksForReview: boolean
  readonly isUnexpected: boolean
  /** Whether it fails the run alone. */
  readonly isFatal: boolean
  /** Whether it would cost points if it were not a single episode that is over. */
  readonly isOver: boolean
  /** A missing group with about as many events that may be the same message reworded. */
  readonly instead?: Comparison | undefined
  readonly pAdjusted: number
  /** Its part of the exponent of the score (analysis.md 3.4). */
  readonly loss: number
}

/**
 * False discovery rate among the templates of a run that cost points, over all its intervals. A
 * template that is new ever has this error on its own.
 */
const FALSE_DISCOVERIES = 0.05
const WEIGHTS: Readonly<Record<LineSeverity, number>> = {
  critical: 3,
  error: 1,
  warn: 0.25,
  ordinary: 0.1,
  ignore: 0,
}
/** Maximum chance of the events under equal sides: seven events against none with equal traffic. */
const MAX_CHANCE_AT_ONCE = 0.01
/**
 * Minimum number of lines of a new kind of error for a review, even in a single burst; fewer are
 * enough in a share of the canary's lines.
 */
const NEW_KIND = { lines: 5, fewer: 3, share: 0.01 }
/** A known error that is this many times as frequent needs a review, even if the limit is not proven. */
const MUCH_MORE = { times: 5, lines: 5 }
const HARMFUL: ReadonlySet<LineSeverity> = new Set(['error', 'critical'])
/**
 * Weight of the affected share: one line in a hundred adds half, one in twenty more than triples.
 */
const SHARE_WEIGHT = 50
const MAX_REACH = 6
/** Maximum reach of a start that is over without a review: two lines in a hundred. */
const REACH_OF_START = 2
/** Weight of templates that no earlier release logged: they come from this one. */
const NEW_EVER_WEIGHT = 1.5
const MIN_RATIO_NEW_EVER = 1
/** Eight times as many cost as much as any more. */
const DOUBLINGS = 3

/** Determines the unexpected groups among all that may cost points, and the weight of each. */
export function weighFindings(
  comparisons: readonly Comparison[],
  seenTemplates: readonly string[],
  exposures: Exposures,
  options: LogJudgeOptions,
): readonly WeighedComparison[] {
  const seen = new Set(seenTemplates)
  const counting = comparisons.filter((comparison) => mayCost(comparison, options))
  const adjusted = benjaminiHochberg(counting.map(({ pMore }) => pMore))
  const error = spendAlpha(FALSE_DISCOVERIES, options.interval)
  const adjustedOf = new Map(counting.map((comparison, place) => [comparison, adjusted[place]]))
  return comparisons.map((comparison) => {
    const pAdjusted = adjustedOf.get(comparison)
    const isUnseen = !comparison.group.template.keys.some((key) => seen.has(key))
    const standing = { pAdjusted, error, exposures, isUnseen, isNewEver: isNewEver(comparison, seen) }
    return weigh(comparison, standing, options)
  })
}

function mayCost({ group }: Comparison, { scoresOrdinaryLines }: LogJudgeOptions): boolean {
  if (group.canary.events === 0 || group.severity === 'ignore') return false
  return group.severity !== 'ordinary' || scoresOrdinaryLines
}

function isNewEver({ group, change }: Comparison, seen: ReadonlySet<string>): boolean {
  return change === 'new' && seen.size > 0 && !group.template.keys.some((key) => seen.has(key))
}

/** The context of a comparison. */
interface Standing {
  /** Undefined if it cannot cost points. */
  readonly pAdjusted: number | undefined
  /** How large it may be. */
  readonly error: number
  readonly isNewEver: boolean
  /** Whether no earlier release is known to have logged it. */
  readonly isUnseen: boolean
  readonly exposures: Exposures
}

/** The exposure of each side in lines, requests or minutes, and the lines of each side. */
export interface Exposures extends Pick<LogExposure, 'basis' | 'baseline' | 'canary'> {
  readonly lines: Readonly<Record<'baseline' | 'canary', LinesOfSide>>
}

/** The numbers of all events and of errors on a side. */
export interface LinesOfSide {
  readonly all: number
  readonly harmful: number
}

/**
 * Whether many critical events that neither the baseline nor an earlier release has are beyond
 * chance, even as one burst. The canary's share of the time counts as at least a half.
 */
function isManyAtOnce({ group }: Comparison, { baseline, canary: exposed }: Exposures): boolean {
  const share = exposed > 0 ? Math.max(exposed / (baseline + exposed), 1 / 2) : 1 / 2
  return share ** group.canary.events < MAX_CHANCE_AT_ONCE
}

/** An error that hits a share of the requests or lines weighs the more the larger the share. */
function reachOf(group: EventGroup, exposures: Exposures): number {
  return Math.min(MAX_REACH, 1 + SHARE_WEIGHT * Math.max(0, shareHit(group, exposures)))
}

/** The affected share of requests or lines on the canary in excess of the baseline's. */
function shareHit({ baseline, canary }: EventGroup, { basis, lines, ...out }: Exposures): number {
  if (basis !== 'time') {
    return canary.events / (out.canary + canary.events) - baseline.events / (out.baseline + baseline.events)
  }
  // A log that contains only errors does not show how much went well.
  const share = (part: number, { all }: LinesOfSide): number => part / Math.max(1, all)
  const own = share(canary.events, lines.canary) - share(baseline.events, lines.baseline)
  return Math.min(
    own,
    share(lines.canary.harmful, lines.canary) - share(lines.baseline.harmful, lines.baseline),
  )
}

/** Whether a known error is significantly and several times more frequent by exposure. */
function isMuchMore({ change, ratio, group: { canary, baseline } }: Comparison): boolean {
  const isMany = canary.events >= baseline.events + MUCH_MORE.lines
  return change === 'more' && isMany && (ratio ?? 0) >= MUCH_MORE.times
}

/** Whether a new kind of error has enough lines for a review. */
function isMuchOfIts({ canary: { events } }: EventGroup, { lines }: Exposures): boolean {
  return events >= NEW_KIND.lines || (events >= NEW_KIND.fewer && events >= NEW_KIND.share * lines.canary.all)
}

function weigh(
  comparison: Comparison,
  { pAdjusted, error, exposures, isNewEver: newEver, isUnseen }: Standing,
  { failsOnCritical }: LogJudgeOptions,
): WeighedComparison {
  const { group, change, pMore, ratioLower } = comparison
  const { severity } = group
  const mayCostPoints = pAdjusted !== undefined
  const isProven = mayCostPoints && pAdjusted < error && ratioLower > minRatio(severity)
  const isFirst = mayCostPoints && newEver && pMore < error && ratioLower > MIN_RATIO_NEW_EVER
  // A single line may be chance, but for a topic that the template names, one line is enough.
  const isSaid = group.topic?.isOwn === true && change === 'new' && isUnseen
  const isMany = isUnseen && change === 'new' && isManyAtOnce(comparison, exposures)
  const isAtStart = comparison.episode?.from === 0
  const reach = reachOf(group, exposures)
  const isStartOfFew = isAtStart && reach <= REACH_OF_START
  // A canary that continues to serve has survived rare complaints of its start. They are still
  // reviewed.
  const isSurvived = isStartOfFew && exposures.basis !== 'time' && !endsProgram(group.topic)
  const isGrave = isProven || isFirst || isSaid || isMany
  const isFatal = failsOnCritical && severity === 'critical' && isGrave && !isSurvived
  const mayBeOver = comparison.episode !== undefined && (isAtStart || HARMFUL.has(severity))
  const isOver = mayBeOver && !isFatal && (isProven || isFirst)
  const isUnexpected = (isProven || isFirst || isFatal) && !isOver
  const isNewKind = isUnseen && change === 'new' && severity === 'error' && isMuchOfIts(group, exposures)
  const isCritical = failsOnCritical && severity === 'critical' && change === 'new' && isUnseen
  const isDoubtful = (comparison.isMoreInBursts || isMuchMore(comparison)) && HARMFUL.has(severity)
  // Complaints of every start do not matter. An episode in the middle is reviewed.
  const isKnownStart = isStartOfFew && !(change === 'new' && isUnseen)
  const isEpisode = isOver && HARMFUL.has(severity) && !isKnownStart
  // The traffic is not known.
  const isUnmeasured = isUnexpected && HARMFUL.has(severity) && exposures.basis === 'time'
  const asksForReview =
    mayCostPoints &&
    ((isCritical && !isFatal) || ((isNewKind || isDoubtful) && !isUnexpected) || isEpisode || isUnmeasured)
  const effect = Math.min(1, Math.log2(1 + ratioLower) / DOUBLINGS)
  return {
    ...comparison,
    isNewEver: newEver,
    ...{ isUnexpected, isFatal, isOver, asksForReview },
    pAdjusted: pAdjusted ?? 1,
    loss: isUnexpected ? WEIGHTS[severity] * effect * (newEver ? NEW_EVER_WEIGHT : 1) * reach : 0,
  }
}
