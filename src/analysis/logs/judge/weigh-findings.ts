import { benjaminiHochberg } from '../../statistics/benjamini-hochberg.js'
import { spendAlpha } from '../../statistics/alpha-spending.js'
import type { LineSeverity, LogJudgeOptions } from '../model/types.js'
import { leastRatio } from './compare-group.js'
import type { Comparison } from './compare-group.js'

/** A comparison with what it costs. */
export interface WeighedComparison extends Comparison {
  readonly isNewEver: boolean
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
/** What no earlier release ever logged comes from this one. */
const NEW_EVER_WEIGHT = 1.5
const LEAST_RATIO_NEW_EVER = 1
/** Eight times as many cost as much as any more. */
const DOUBLINGS = 3

/** Tells which groups are unexpected, over all that may cost points, and how much each weighs. */
export function weighFindings(
  comparisons: readonly Comparison[],
  seenTemplates: readonly string[],
  options: LogJudgeOptions,
): readonly WeighedComparison[] {
  const seen = new Set(seenTemplates)
  const counting = comparisons.filter((comparison) => mayCost(comparison, options))
  const adjusted = benjaminiHochberg(counting.map(({ pMore }) => pMore))
  const error = spendAlpha(FALSE_DISCOVERIES, options.look)
  const adjustedOf = new Map(counting.map((comparison, place) => [comparison, adjusted[place]]))
  return comparisons.map((comparison) => {
    const pAdjusted = adjustedOf.get(comparison)
    return weigh(comparison, { pAdjusted, error, isNewEver: isNewEver(comparison, seen) }, options)
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
}

function weigh(
  comparison: Comparison,
  { pAdjusted, error, isNewEver: newEver }: Standing,
  { failsOnCritical }: LogJudgeOptions,
): WeighedComparison {
  const { group, change, pMore, ratioLower } = comparison
  const { severity } = group
  const mayCostPoints = pAdjusted !== undefined
  const isProven = mayCostPoints && pAdjusted < error && ratioLower > leastRatio(severity)
  const isFirst = mayCostPoints && newEver && pMore < error && ratioLower > LEAST_RATIO_NEW_EVER
  const isFatal = failsOnCritical && severity === 'critical' && (isProven || change === 'new')
  const isUnexpected = isProven || isFirst || isFatal
  const effect = Math.min(1, Math.log2(1 + ratioLower) / DOUBLINGS)
  return {
    ...comparison,
    isNewEver: newEver,
    ...{ isUnexpected, isFatal },
    pAdjusted: pAdjusted ?? 1,
    loss: isUnexpected ? WEIGHTS[severity] * effect * (newEver ? NEW_EVER_WEIGHT : 1) : 0,
  }
}
