import { benjaminiHochberg } from '../../statistics/benjamini-hochberg.js'
import { spendAlpha } from '../../statistics/alpha-spending.js'
import type { LineSeverity, LogExposure, LogJudgeOptions } from '../model/types.js'
import { leastRatio } from './compare-group.js'
import type { Comparison } from './compare-group.js'
import type { EventGroup } from './event-group.js'

/** A comparison with what it costs. */
export interface WeighedComparison extends Comparison {
  readonly isNewEver: boolean
  readonly asksForReview: boolean
  readonly isUnexpected: boolean
  /** Whether it fails the run alone. */
  readonly isFatal: boolean
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
const MANY_AT_ONCE = 0.01
/** So many errors that nobody logged before are looked at, be they one burst. */
const BURST_TO_LOOK_AT = 20
const HARMFUL: ReadonlySet<LineSeverity> = new Set(['error', 'critical'])
/** What hits one of a hundred lines weighs half as much again, what hits one of twenty more than three times as much. */
const SHARE_WEIGHT = 50
const MOST_REACH = 6
/** What no earlier release ever logged comes from this one. */
const NEW_EVER_WEIGHT = 1.5
const LEAST_RATIO_NEW_EVER = 1
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
  const error = spendAlpha(FALSE_DISCOVERIES, options.look)
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

/** Lines, requests or minutes that the events of each side are counted out of. */
type Exposures = Pick<LogExposure, 'basis' | 'baseline' | 'canary'>

/** Many critical events that the baseline has none of and nobody knows are no chance, were they one burst: as likely in the canary at least as in the baseline. */
function isManyAtOnce({ group }: Comparison, { baseline, canary: exposed }: Exposures): boolean {
  const share = exposed > 0 ? Math.max(exposed / (baseline + exposed), 1 / 2) : 1 / 2
  return share ** group.canary.events < MANY_AT_ONCE
}

/** An error that hits a share of the requests or lines weighs the more the larger the share. */
function reachOf({ baseline, canary }: EventGroup, { basis, ...out }: Exposures): number {
  if (basis === 'time') return 1
  const share =
    canary.events / (out.canary + canary.events) - baseline.events / (out.baseline + baseline.events)
  return Math.min(MOST_REACH, 1 + SHARE_WEIGHT * Math.max(0, share))
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
  const isFirst = mayCostPoints && newEver && pMore < error && ratioLower > LEAST_RATIO_NEW_EVER
  // One line may be chance; where people named it, one is what they wait for.
  const isSaid = group.topic?.isOwn === true && change === 'new' && isUnseen
  const isMany = isUnseen && change === 'new' && isManyAtOnce(comparison, exposures)
  const isFatal = failsOnCritical && severity === 'critical' && (isProven || isFirst || isSaid || isMany)
  const isUnexpected = isProven || isFirst || isFatal
  const isBurst = isMany && severity === 'error' && group.canary.events >= BURST_TO_LOOK_AT
  const isCritical = failsOnCritical && severity === 'critical' && change === 'new' && isUnseen
  const isDoubtful = comparison.isMoreInBursts && HARMFUL.has(severity)
  const asksForReview =
    mayCostPoints && ((isCritical && !isFatal) || ((isBurst || isDoubtful) && !isUnexpected))
  const effect = Math.min(1, Math.log2(1 + ratioLower) / DOUBLINGS)
  return {
    ...comparison,
    isNewEver: newEver,
    ...{ isUnexpected, isFatal, asksForReview },
    pAdjusted: pAdjusted ?? 1,
    loss: isUnexpected
      ? WEIGHTS[severity] * effect * (newEver ? NEW_EVER_WEIGHT : 1) * reachOf(group, exposures)
      : 0,
  }
}
