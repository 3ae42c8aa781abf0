import { benjaminiHochberg } from '../../statistics/benjamini-hochberg.js'
import { spendAlpha } from '../../statistics/alpha-spending.js'
import type { LineSeverity, LogExposure, LogJudgeOptions } from '../model/types.js'
import { endsProgram } from '../topics/default-topics.js'
import { leastRatio } from './compare-group.js'
import type { Comparison } from './compare-group.js'
import type { EventGroup } from './side-events.js'

/** A comparison with what it costs. */
export interface WeighedComparison extends Comparison {
  readonly isNewEver: boolean
  readonly asksForReview: boolean
  readonly isUnexpected: boolean
  /** Whether it fails the run alone. */
  readonly isFatal: boolean
  /** Whether it would cost points, had it not come in one episode that is over. */
  readonly isOver: boolean
  /** The one of as many events that the canary does not log, where it may be the same in other words. */
  readonly instead?: Comparison | undefined
  readonly pAdjusted: number
  /** Its part of the exponent of the score (analysis.md 3.4). */
  readonly loss: number
}

/** Among the templates of a run that cost points, at all its looks together; of one that is new ever, its own error. */
const FALSE_DISCOVERIES = 0.05
const WEIGHTS: Readonly<Record<LineSeverity, number>> = {
  critical: 3,
  error: 1,
  warn: 0.25,
  ordinary: 0.1,
  ignore: 0,
}
/** Seven events against none, where both sides have as much traffic. */
const MAX_CHANCE_AT_ONCE = 0.01
/** So many errors that nobody logged before are looked at, be they one burst. */
const BURST_TO_REVIEW = 20
const HARMFUL: ReadonlySet<LineSeverity> = new Set(['error', 'critical'])
/** What hits one of a hundred lines weighs half as much again, what hits one of twenty more than three times as much. */
const SHARE_WEIGHT = 50
const MAX_REACH = 6
/** What ended with the start of the canary and hit more than two of a hundred lines is for people. */
const REACH_OF_START = 2
/** What no earlier release ever logged comes from this one. */
const NEW_EVER_WEIGHT = 1.5
const MIN_RATIO_NEW_EVER = 1
/** Eight times as many cost as much as any more. */
const DOUBLINGS = 3

/** Tells which groups are unexpected, over all that may cost points, and how much each weighs. */
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

/** What is known of a comparison among the others. */
interface Standing {
  /** Undefined where it may cost nothing. */
  readonly pAdjusted: number | undefined
  /** How large it may be. */
  readonly error: number
  readonly isNewEver: boolean
  /** Whether no earlier release is known to have logged it. */
  readonly isUnseen: boolean
  readonly exposures: Exposures
}

/** Lines, requests or minutes that the events of each side are counted out of, and the lines of each side. */
export interface Exposures extends Pick<LogExposure, 'basis' | 'baseline' | 'canary'> {
  readonly lines: Readonly<Record<'baseline' | 'canary', LinesOfSide>>
}

/** All events of a side, and those that are errors. */
export interface LinesOfSide {
  readonly all: number
  readonly harmful: number
}

/** Many critical events that the baseline has none of and nobody knows are no chance, were they one burst: as likely in the canary at least as in the baseline. */
function isManyAtOnce({ group }: Comparison, { baseline, canary: exposed }: Exposures): boolean {
  const share = exposed > 0 ? Math.max(exposed / (baseline + exposed), 1 / 2) : 1 / 2
  return share ** group.canary.events < MAX_CHANCE_AT_ONCE
}

/** An error that hits a share of the requests or lines weighs the more the larger the share. */
function reachOf(group: EventGroup, exposures: Exposures): number {
  return Math.min(MAX_REACH, 1 + SHARE_WEIGHT * Math.max(0, shareHit(group, exposures)))
}

/** The share of requests or lines that is hit on the canary beyond that of the baseline. */
function shareHit({ baseline, canary }: EventGroup, { basis, lines, ...out }: Exposures): number {
  if (basis !== 'time') {
    return canary.events / (out.canary + canary.events) - baseline.events / (out.baseline + baseline.events)
  }
  // A log of errors only says nothing of what went well.
  const share = (part: number, { all }: LinesOfSide): number => part / Math.max(1, all)
  const own = share(canary.events, lines.canary) - share(baseline.events, lines.baseline)
  return Math.min(
    own,
    share(lines.canary.harmful, lines.canary) - share(lines.baseline.harmful, lines.baseline),
  )
}

function weigh(
  comparison: Comparison,
  { pAdjusted, error, exposures, isNewEver: newEver, isUnseen }: Standing,
  { failsOnCritical }: LogJudgeOptions,
): WeighedComparison {
  const { group, change, pMore, ratioLower } = comparison
  const { severity } = group
  const mayCostPoints = pAdjusted !== undefined
  const isProven = mayCostPoints && pAdjusted < error && ratioLower > leastRatio(severity)
  const isFirst = mayCostPoints && newEver && pMore < error && ratioLower > MIN_RATIO_NEW_EVER
  // One line may be chance; where people named it, one is what they wait for.
  const isSaid = group.topic?.isOwn === true && change === 'new' && isUnseen
  const isMany = isUnseen && change === 'new' && isManyAtOnce(comparison, exposures)
  const isAtStart = comparison.episode?.from === 0
  const reach = reachOf(group, exposures)
  const isStartOfFew = isAtStart && reach <= REACH_OF_START
  // A canary that goes on serving has got over what its start complained of now and then; people still look at it.
  const isSurvived = isStartOfFew && exposures.basis !== 'time' && !endsProgram(group.topic)
  const isGrave = isProven || isFirst || isSaid || isMany
  const isFatal = failsOnCritical && severity === 'critical' && isGrave && !isSurvived
  const mayBeOver = comparison.episode !== undefined && (isAtStart || HARMFUL.has(severity))
  const isOver = mayBeOver && !isFatal && (isProven || isFirst)
  const isUnexpected = (isProven || isFirst || isFatal) && !isOver
  const isBurst = isMany && severity === 'error' && group.canary.events >= BURST_TO_REVIEW
  const isCritical = failsOnCritical && severity === 'critical' && change === 'new' && isUnseen
  const isDoubtful = comparison.isMoreInBursts && HARMFUL.has(severity)
  // What a start brings along each time is no matter; what came in the middle is looked at.
  const isKnownStart = isStartOfFew && !(change === 'new' && isUnseen)
  const isEpisode = isOver && HARMFUL.has(severity) && !isKnownStart
  // What its traffic is nobody knows.
  const isUnmeasured = isUnexpected && HARMFUL.has(severity) && exposures.basis === 'time'
  const asksForReview =
    mayCostPoints &&
    ((isCritical && !isFatal) || ((isBurst || isDoubtful) && !isUnexpected) || isEpisode || isUnmeasured)
  const effect = Math.min(1, Math.log2(1 + ratioLower) / DOUBLINGS)
  return {
    ...comparison,
    isNewEver: newEver,
    ...{ isUnexpected, isFatal, isOver, asksForReview },
    pAdjusted: pAdjusted ?? 1,
    loss: isUnexpected ? WEIGHTS[severity] * effect * (newEver ? NEW_EVER_WEIGHT : 1) * reach : 0,
  }
}
